import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import { deleteBankAccountsOf } from '../bank-accounts/delete-bank-account.ts';
import { findMailToken, refuseMailToken, spendMailToken } from '../mail/mail-token.ts';
import { hasManyTokenMails, recordMail, recordTokenMail } from '../mail/record-mail.ts';
import { emailDigest, openProfile } from '../members/profile.ts';
import type { User } from '../members/user.entity.ts';
import { endTokens, lockUserRow } from './end-tokens.ts';
import { countedAddress } from './login-failures.ts';
import { hashPassword } from './password.ts';
import { refuseGuessable } from './password-rules.ts';
import { forgetSecondFactor } from './remove-totp.ts';

/** The minimum response time: several times as long as recording an e-mail takes. */
const answeredAfterMs = 250;

/**
 * Records the e-mail with which an active user can set a new password. Result and timing are the same if there is no
 * such user.
 */
export async function askForPassword(
  em: EntityManager,
  sealer: Sealer,
  { email, requestId }: { email: string; requestId: string },
): Promise<void> {
  const answered = sleep(answeredAfterMs);
  const [found] = await em.execute<{ id: string }[]>(
    "select id from users where email_digest = ? and status = 'active'",
    [await emailDigest(sealer, email)],
  );
  if (found) await em.transactional((tx) => writeMail(tx, sealer, { userId: found.id, requestId }));
  await answered;
}

async function writeMail(
  tx: EntityManager,
  sealer: Sealer,
  { userId, requestId }: { userId: string; requestId: string },
): Promise<void> {
  // Only one of many concurrent requests writes; if the others waited for it, they would reveal that there is an
  // account.
  const [row] = await tx.execute<[{ is_next: boolean }]>(
    "select pg_try_advisory_xact_lock(hashtextextended('forgot/' || ?, 0)) as is_next",
    [userId],
  );
  if (!row.is_next) return;
  if (await hasManyTokenMails(tx, userId, 'reset_password')) return;
  await recordTokenMail(tx, sealer, { userId, kind: 'reset_password' });
  await recordAction(tx, { actorId: null, requestId }, 'PASSWORD_RESET_REQUESTED', ['user', userId]);
}

export interface ResetPasswordInput {
  token: string;
  password: string;
  /** The network address the request came from. */
  address: string;
  requestId: string;
}

/**
 * Ends the user's subscriptions and standing orders, in the caller's transaction, which must not have locked a user.
 */
export type EndOrders = (tx: EntityManager, by: { userId: string; requestId: string }) => Promise<void>;

/**
 * Sets the password of the user to whom this token was sent, and ends every session. If the address is not confirmed,
 * somebody else may have signed up with it: removes bank accounts, ends subscriptions and standing orders and, unless
 * mail to the address bounced, removes the second factor. Throws REQUEST_INVALID for a token that is unknown, expired
 * or already used, and for a guessable password, which does not use up the token.
 */
export async function resetPassword(
  em: EntityManager,
  { sealer, endOrders }: { sealer: Sealer; endOrders: EndOrders },
  input: ResetPasswordInput,
): Promise<User> {
  const { token, requestId } = input;
  const userId = (await findMailToken(em, sealer, 'reset_password', token)) ?? refuseMailToken();
  const [known] = await em.execute<{ profile_sealed: string | null; is_confirmed: boolean }[]>(
    `select profile_sealed, email_confirmed_at is not null as is_confirmed
     from users where id = ? and status = 'active'`,
    [userId],
  );
  if (known === undefined) refuseMailToken();
  const { email } = await openProfile(sealer, { id: userId, profile_sealed: known.profile_sealed });
  refuseGuessable(input.password, email);
  const password_sealed = await hashPassword(sealer, userId, input.password, countedAddress(input.address));
  return em.transactional(async (tx) => {
    // End the orders before locking the user's row, because payments lock it last.
    if (!known.is_confirmed) await endOrders(tx, { userId, requestId });
    const user = await lockUserRow(tx, userId);
    if (user.status !== 'active') refuseMailToken();
    await spendMailToken(tx, 'reset_password', token);
    if (!user.email_confirmed_at) await removeTraces(tx, sealer, user, requestId);
    const now = await readDatabaseClock(tx);
    const email_confirmed_at = user.email_confirmed_at ?? now;
    tx.assign(user, { password_sealed, email_confirmed_at, email_bounced_at: null, updated_at: now });
    await endTokens(tx, user);
    await tx.flush();
    await recordAction(tx, { actorId: user.id, requestId }, 'RESOURCE_UPDATED', ['user', user.id], {
      changed: ['password'],
      by: 'mail',
    });
    await recordMail(tx, sealer, { userId, kind: 'password_changed' });
    return user;
  });
}

/** Removes what somebody else may have left who signed up with the address. */
async function removeTraces(tx: EntityManager, sealer: Sealer, user: User, requestId: string): Promise<void> {
  const { id: userId, email_bounced_at: bouncedAt } = user;
  // A bounced address may have been confirmed before and belong to somebody else now, who lacks the second factor.
  if (!bouncedAt && (await forgetSecondFactor(tx, { userId, actorId: userId, requestId }))) {
    await recordMail(tx, sealer, { userId, kind: 'second_factor_off' });
  }
  await deleteBankAccountsOf(tx, { userId, requestId });
}
