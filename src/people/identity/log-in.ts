import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import { refuse } from '../../shared/errors.ts';
import type { UserStatus } from '../../shared/user.ts';
import { recordMail } from '../mail/record-mail.ts';
import { emailDigest, openProfile } from '../members/profile.ts';
import type { User } from '../members/user.entity.ts';
import { holdUserRow, lockUserRow } from './end-tokens.ts';
import {
  countPassword,
  type LoginAttempt,
  loginAttempt,
  recordLoginFailure,
  refuseThrottled,
  rememberLogin,
} from './login-failures.ts';
import { hashPassword, verifyPassword } from './password.ts';
import { findSecondFactor, type SecondFactor, spendCode } from './second-factor.ts';

export interface LogInInput {
  email: string;
  password: string;
  /** A code of the second factor, or a recovery code. */
  totpCode: string | undefined;
  /** The network address the request came from. */
  address: string;
  requestId: string;
}

export interface LoggedIn {
  user: User;
  /** The user's `token_generation` when the password was checked. */
  generation: number;
  /** The mark of the second factor used; null without one. */
  secondFactor: string | null;
}

interface Account {
  id: string;
  status: UserStatus;
  password_sealed: string | null;
  token_generation: number;
  profile_sealed: string | null;
}

/**
 * Returns the active user with this e-mail address, password and, with a second factor, code. Unknown addresses, wrong
 * passwords, invited and suspended users get the same 401 after the same work. Reports a missing or wrong code only
 * after the right password. Too many failures are a 429, even for the right password.
 */
export async function logIn(em: EntityManager, sealer: Sealer, input: LogInInput): Promise<LoggedIn> {
  const { email, password, totpCode, address, requestId } = input;
  const attempt = loginAttempt(await emailDigest(sealer, email), address);
  const goesFirst = await refuseThrottled(em, attempt);
  const [found] = await em.execute<Account[]>(
    'select id, status, password_sealed, token_generation, profile_sealed from users where email_digest = ?',
    [attempt.account],
  );
  const { matches, isAsTyped } = await verifyPassword(sealer, found ?? null, password, {
    address: attempt.address,
    goesFirst,
  });
  const entered = matches && found?.status === 'active' ? found : null;
  const failure = { attempt, userId: found?.id, actorId: null, reason: 'password', requestId } as const;
  await countPassword(em, failure, entered !== null);
  if (entered === null) refuseUnknown();
  if (isAsTyped) await hashAnew(em, sealer, entered, password, attempt.address);
  // The response contains the profile: while its key cannot be read, spend no code and record no login.
  await openProfile(sealer, entered);
  const begun = await findSecondFactor(em, entered.id);
  const factor = begun?.confirmed_at ? begun : null;
  if (factor && totpCode === undefined) refuseWithoutCode();
  let secondFactor: string | null = null;
  const user = await em.transactional(async (tx) => {
    // The lock serializes codes, so that each of many concurrent guesses sees the failures before it.
    const user = factor ? await lockUserRow(tx, entered.id) : await holdUserRow(tx, entered.id);
    // Suspension, erasure and every change of the password increment `token_generation`. The sealed hash is no
    // evidence, because key rotation changes it too.
    if (user.status !== 'active' || user.token_generation !== entered.token_generation) refuseUnknown();
    const current = await findSecondFactor(tx, entered.id);
    if (factor) {
      await refuseThrottled(tx, attempt, { ofCodes: true });
      if (!current || !(await spendCode(tx, sealer, current, totpCode ?? ''))) {
        await recordLoginFailure(tx, { attempt, userId: entered.id, actorId: null, reason: 'totp_code', requestId });
        return null;
      }
      secondFactor = current.mark;
    } else if (current?.confirmed_at) refuseWithoutCode();
    await enter(tx, sealer, { attempt, userId: entered.id, factor, requestId });
    return user;
  });
  if (user === null) refuse('UNAUTHENTICATED', 'is wrong or already used', { field: 'totp_code' });
  return { user, generation: entered.token_generation, secondFactor };
}

/** Stores the hash of an account's normalized password unless the password has changed. */
async function hashAnew(
  em: EntityManager,
  sealer: Sealer,
  account: Account,
  password: string,
  address: string,
): Promise<void> {
  const anew = await hashPassword(sealer, account.id, password, address);
  await em.execute('update users set password_sealed = ? where id = ? and password_sealed = ?', [
    anew,
    account.id,
    account.password_sealed,
  ]);
}

function refuseUnknown(): never {
  refuse('UNAUTHENTICATED', 'The e-mail address or the password is wrong');
}

function refuseWithoutCode(): never {
  refuse('UNAUTHENTICATED', 'is required', { field: 'totp_code' });
}

interface Entering {
  attempt: LoginAttempt;
  userId: string;
  factor: SecondFactor | null;
  requestId: string;
}

async function enter(
  tx: EntityManager,
  sealer: Sealer,
  { attempt, userId, factor, requestId }: Entering,
): Promise<void> {
  if (await rememberLogin(tx, attempt)) {
    await recordMail(tx, sealer, { userId, kind: 'new_login', facts: { from: attempt.address } });
  }
  await recordAction(tx, { actorId: userId, requestId }, ['USER_LOGGED_IN', 'LOW'], ['user', userId], {
    second_factor: factor !== null,
  });
}
