import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordEvent } from '../../platform/events/record-event.ts';
import { findMailToken, refuseMailToken, spendMailToken } from '../mail/mail-token.ts';
import type { User } from '../members/user.entity.ts';
import { lockUserRow } from './end-tokens.ts';

/**
 * Confirms the address that this token was sent to: from then on the user gets receipts and reminders. Throws
 * REQUEST_INVALID for a token that is unknown, expired or already used.
 */
export async function confirmAddress(
  em: EntityManager,
  sealer: Sealer,
  { token, requestId }: { token: string; requestId: string },
): Promise<User> {
  const userId = (await findMailToken(em, sealer, 'confirm_address', token)) ?? refuseMailToken();
  return em.transactional(async (tx) => {
    const user = await lockUserRow(tx, userId);
    if (user.status !== 'active') refuseMailToken();
    await spendMailToken(tx, 'confirm_address', token);
    if (user.email_confirmed_at) return user;
    const now = await readDatabaseClock(tx);
    tx.assign(user, { email_confirmed_at: now, updated_at: now });
    await tx.flush();
    await recordEvent(tx, {
      event: 'RESOURCE_UPDATED',
      resourceType: 'user',
      resourceId: user.id,
      actorId: user.id,
      requestId,
      data: { changed: ['email_confirmed_at'] },
    });
    return user;
  });
}
