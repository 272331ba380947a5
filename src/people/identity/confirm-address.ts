import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '../../platform/events/record-event.ts';
import { findMailToken, refuseMailToken, spendMailToken } from '../mail/mail-token.ts';
import { lockUserRow } from './end-tokens.ts';
import type { User } from './user.entity.ts';

/**
 * Confirms the address that this token was sent to: from then on the user gets receipts and reminders. Throws
 * REQUEST_INVALID for a token that is unknown, expired or already used.
 */
export async function confirmAddress(
  em: EntityManager,
  { token, requestId }: { token: string; requestId: string },
): Promise<User> {
  const userId = (await findMailToken(em, 'confirm_address', token)) ?? refuseMailToken();
  return em.transactional(async (tx) => {
    const user = await lockUserRow(tx, userId);
    if (user.status !== 'active') refuseMailToken();
    await spendMailToken(tx, 'confirm_address', token);
    await noteConfirmed(tx, user, requestId);
    return user;
  });
}

/** The user has used what was sent to their address, in the caller's transaction, which has locked their row. */
export async function noteConfirmed(tx: EntityManager, user: User, requestId: string): Promise<void> {
  const confirmed = await tx.execute<unknown[]>(
    `update users set email_confirmed_at = clock_timestamp() where id = ? and email_confirmed_at is null returning 1`,
    [user.id],
  );
  if (confirmed.length === 0) return;
  await recordEvent(tx, {
    event: 'RESOURCE_UPDATED',
    resourceType: 'user',
    resourceId: user.id,
    actorId: user.id,
    requestId,
    data: { changed: ['email_confirmed_at'] },
  });
}
