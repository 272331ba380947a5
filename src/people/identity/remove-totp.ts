import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { recordMail } from '../mail/record-mail.ts';
import { guardGuesses } from './login-failures.ts';
import { findSecondFactor, spendCode } from './second-factor.ts';

/**
 * Removes the caller's second factor with its recovery codes, given a code from the app or a recovery code. Throws
 * REQUEST_INVALID for a wrong code, which counts as a failed login, and if there is no second factor.
 */
export async function removeTotp(
  em: EntityManager,
  sealer: Sealer,
  { caller, code, address, requestId }: { caller: Caller; code: string; address: string; requestId: string },
): Promise<void> {
  const { userId } = caller;
  await guardGuesses(em, { caller, address, requestId }, async (tx) => {
    const factor = await findSecondFactor(tx, userId);
    if (!factor?.confirmed_at) refuse('REQUEST_INVALID', 'There is no second factor');
    if (!(await spendCode(tx, sealer, factor, code))) return null;
    await forgetSecondFactor(tx, { userId, actorId: userId, requestId });
    await recordMail(tx, sealer, { userId, kind: 'second_factor_off' });
    return true;
  });
}

/** Removes a second factor, with an event, in the caller's transaction. Returns whether there was a confirmed one. */
export async function forgetSecondFactor(
  tx: EntityManager,
  { userId, actorId, requestId }: { userId: string; actorId: string | null; requestId: string | null },
): Promise<boolean> {
  const [removed] = await tx.execute<{ was_confirmed: boolean }[]>(
    'delete from second_factors where id = ? returning confirmed_at is not null as was_confirmed',
    [userId],
  );
  if (removed === undefined) return false;
  await recordAction(tx, { actorId, requestId }, 'RESOURCE_UPDATED', ['user', userId], { second_factor: 'removed' });
  return removed.was_confirmed;
}
