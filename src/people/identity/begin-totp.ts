import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { recordMail } from '../mail/record-mail.ts';
import { openProfile } from '../members/profile.ts';
import { lockOwnRow } from './end-tokens.ts';
import { guardGuesses } from './login-failures.ts';
import {
  findSecondFactor,
  hashRecoveryCode,
  makeRecoveryCodes,
  makeSecret,
  placeOfSecret,
  spendAppCode,
} from './second-factor.ts';

const refuseConfirmed = (): never =>
  refuse('REQUEST_INVALID', 'There is already a second factor; remove it before you set up another');

/**
 * Begins to set up the caller's second factor, which has no effect until confirmed. Replaces an earlier unconfirmed
 * one. Throws REQUEST_INVALID while one is confirmed.
 */
export async function beginTotp(
  em: EntityManager,
  sealer: Sealer,
  { caller, issuer, requestId }: { caller: Caller; issuer: string; requestId: string },
): Promise<{ secret: string; otpauthUrl: string }> {
  return em.transactional(async (tx) => {
    const user = await lockOwnRow(tx, caller);
    if ((await findSecondFactor(tx, user.id))?.confirmed_at) refuseConfirmed();
    const made = makeSecret(issuer, (await openProfile(sealer, user)).email);
    await tx.execute(
      `insert into second_factors (id, secret_sealed) values (?, ?)
       on conflict (id) do update set secret_sealed = excluded.secret_sealed, created_at = now()`,
      [user.id, await sealer.seal(placeOfSecret(user.id), made.secret)],
    );
    await record(tx, user.id, 'begun', requestId);
    return made;
  });
}

/**
 * Confirms the caller's second factor with a code from the app; from then on logging in requires a code. Returns the
 * recovery codes, which are shown only once. Throws REQUEST_INVALID for a wrong or used code, which counts as a failed
 * login, and if there is no unconfirmed second factor.
 */
export async function confirmTotp(
  em: EntityManager,
  sealer: Sealer,
  { caller, code, address, requestId }: { caller: Caller; code: string; address: string; requestId: string },
): Promise<string[]> {
  return guardGuesses(em, { caller, address, requestId }, async (tx) => {
    const factor = await findSecondFactor(tx, caller.userId);
    if (factor === null) refuse('REQUEST_INVALID', 'No second factor is being set up');
    if (factor.confirmed_at) refuseConfirmed();
    if (!(await spendAppCode(tx, sealer, factor, code))) return null;
    await tx.execute('update second_factors set confirmed_at = now() where id = ?', [factor.id]);
    const codes = makeRecoveryCodes();
    for (const made of codes) {
      await tx.execute('insert into recovery_codes (user_id, code_hash) values (?, ?)', [
        factor.id,
        hashRecoveryCode(factor.id, made),
      ]);
    }
    await record(tx, factor.id, 'confirmed', requestId);
    await recordMail(tx, sealer, { userId: factor.id, kind: 'second_factor_on' });
    return codes;
  });
}

function record(tx: EntityManager, userId: string, secondFactor: string, requestId: string): Promise<void> {
  return recordAction(tx, { actorId: userId, requestId }, 'RESOURCE_UPDATED', ['user', userId], {
    second_factor: secondFactor,
  });
}
