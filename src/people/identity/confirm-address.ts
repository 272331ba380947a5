import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { findMailToken, refuseMailToken, spendMailToken } from '../mail/mail-token.ts';
import { hasManyTokenMails, recordTokenMail } from '../mail/record-mail.ts';
import type { User } from '../members/user.entity.ts';
import { lockOwnRow, lockUserRow } from './end-tokens.ts';

/**
 * Confirms the address to which this token was sent, so that the user gets receipts and reminders. Throws
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
    tx.assign(user, { email_confirmed_at: now, email_bounced_at: null, updated_at: now });
    await tx.flush();
    await recordAction(tx, { actorId: user.id, requestId }, 'RESOURCE_UPDATED', ['user', user.id], {
      changed: ['email_confirmed_at'],
    });
    return user;
  });
}

/**
 * Records another confirmation e-mail to the caller's address. Throws REQUEST_INVALID if the address is confirmed,
 * TOO_MANY_REQUESTS after ten e-mails in an hour.
 */
export async function askForConfirmation(em: EntityManager, sealer: Sealer, caller: Caller): Promise<void> {
  await em.transactional(async (tx) => {
    const user = await lockOwnRow(tx, caller);
    if (user.email_confirmed_at) refuse('REQUEST_INVALID', 'is already confirmed', { field: 'email' });
    if (await hasManyTokenMails(tx, user.id, 'confirm_address')) {
      refuse('TOO_MANY_REQUESTS', 'Too many e-mails in an hour; try again later', { retryAfterSeconds: 3600 });
    }
    await recordTokenMail(tx, sealer, { userId: user.id, kind: 'confirm_address' });
  });
}
