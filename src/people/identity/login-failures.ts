import type { EntityManager } from '@mikro-orm/postgresql';
import ipaddr from 'ipaddr.js';
import { recordAction } from '../../platform/events/record-event.ts';
import { forgetRows } from '../../platform/housekeeping/forget-rows.ts';
import { must } from '../../shared/assert.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { lockOwnRow } from './end-tokens.ts';

/** Failed logins allowed within the window (docs/contract.md 1). */
const failuresPerAccountAndAddress = 10;
const failuresPerAddress = 100;
/** Wrong codes of an account's second factor, after the right password, from all addresses together. */
const wrongCodesPerAccount = 10;
const windowMinutes = 15;
/** An account that logged in from an address within this many days is not blocked by others' failures there. */
const knownDays = 30;

/** A login attempt: the digest of the e-mail address (which may have no account) and the network address. */
export interface LoginAttempt {
  account: string;
  address: string;
}

/** Returns the address by which failures are counted: for IPv6 the /64, which one person commonly has. */
export function countedAddress(address: string): string {
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4' ? parsed.toString() : `${parsed.toNormalizedString().split(':', 4).join(':')}::/64`;
}

export function loginAttempt(emailDigest: string, address: string): LoginAttempt {
  return { account: emailDigest, address: countedAddress(address) };
}

/**
 * Throws TOO_MANY_REQUESTS while too many logins of this account from this address, or of any account from it, have
 * failed. The latter does not lock out accounts that have logged in from the address; returns whether this account has.
 * With `ofCodes` also throws while too many wrong codes of its second factor came from anywhere.
 */
export async function refuseThrottled(
  em: EntityManager,
  { account, address }: LoginAttempt,
  { ofCodes = false } = {},
): Promise<boolean> {
  const wait = (limit: number) =>
    `ceil(extract(epoch from (array_agg(failed_at order by failed_at desc))[${limit}] + interval '${windowMinutes} minutes' - clock_timestamp()))`;
  const [row] = await em.execute<
    [Record<'by_account' | 'by_address' | 'by_code', string | null> & { is_known: boolean }]
  >(
    `select known.is_known,
            (select ${wait(failuresPerAccountAndAddress)} from login_failures
             where address = ? and account_hash = ? and failed_at > clock_timestamp() - interval '${windowMinutes} minutes') as by_account,
            (select ${wait(failuresPerAddress)} from login_failures
             where address = ? and failed_at > clock_timestamp() - interval '${windowMinutes} minutes'
               and not known.is_known) as by_address,
            (select ${wait(wrongCodesPerAccount)} from login_failures
             where ? and of_code and account_hash = ?
               and failed_at > clock_timestamp() - interval '${windowMinutes} minutes') as by_code
     from (select exists (select from known_logins k where k.account_hash = ? and k.address = ?
       and k.logged_in_at > clock_timestamp() - interval '${knownDays} days') as is_known) known`,
    [address, account, address, ofCodes, account, account, address],
  );
  const waits = [row.by_account, row.by_address, row.by_code].filter((wait) => wait !== null);
  if (waits.length === 0) return row.is_known;
  const seconds = Math.max(...waits.map(Number));
  return refuse('TOO_MANY_REQUESTS', 'Too many failed logins; try again later', {
    retryAfterSeconds: Math.max(1, seconds),
  });
}

export interface LoginFailure {
  attempt: LoginAttempt;
  /** The user, if the account exists. */
  userId: string | undefined;
  /** The user who tried, if logged in already. */
  actorId: string | null;
  reason: 'password' | 'totp_code';
  requestId: string | null;
}

/** Counts a failed login, with an event if the account exists, and deletes failures older than the window. */
export async function recordLoginFailure(
  em: EntityManager,
  { attempt: { account, address }, userId, actorId, reason, requestId }: LoginFailure,
): Promise<void> {
  await em.transactional(async (tx) => {
    // An erased user's failures are deleted with them.
    const held =
      userId === undefined
        ? []
        : await tx.execute<unknown[]>('select from users where id = ? and email_digest = ? for key share', [
            userId,
            account,
          ]);
    await tx.execute('insert into login_failures (address, account_hash, of_code) values (?, ?, ?)', [
      address,
      account,
      reason === 'totp_code',
    ]);
    await forgetRows(tx, 'login_failures', `${windowMinutes} minutes`, 100);
    if (userId === undefined || held.length === 0) return;
    await recordAction(tx, { actorId, requestId }, 'USER_LOGIN_FAILED', ['user', userId], { reason });
  });
}

/**
 * Counts a password after its hash was checked; serialized by account and address, so that each of many concurrent
 * attempts sees the failures before it. Throws TOO_MANY_REQUESTS for right and wrong passwords alike, so that the
 * response does not reveal the right one among many guesses.
 */
export async function countPassword(em: EntityManager, failure: LoginFailure, isRight: boolean): Promise<void> {
  const { account, address } = failure.attempt;
  await em.transactional(async (tx) => {
    await tx.execute("select pg_advisory_xact_lock(hashtextextended('password/' || ? || '/' || ?, 0))", [
      account,
      address,
    ]);
    await refuseThrottled(tx, failure.attempt);
    if (!isRight) await recordLoginFailure(tx, failure);
  });
}

/**
 * Records that the account logged in from this address, and deletes entries older than `knownDays`. Returns whether to
 * notify the user: the address is new, and the account has logged in elsewhere or is older than these records.
 */
export async function rememberLogin(tx: EntityManager, { account, address }: LoginAttempt): Promise<boolean> {
  const [known] = await tx.execute<[{ is_news: boolean }]>(
    `select not coalesce(bool_or(address = ?), false) and (count(*) > 0 or exists (select from users u
       where u.email_digest = ? and u.created_at < clock_timestamp() - interval '${knownDays} days')) as is_news
     from known_logins where account_hash = ? and logged_in_at > clock_timestamp() - interval '${knownDays} days'`,
    [address, account, account],
  );
  await tx.execute(
    `insert into known_logins (account_hash, address) values (?, ?)
     on conflict (account_hash, address) do update set logged_in_at = excluded.logged_in_at`,
    [account, address],
  );
  await forgetRows(tx, 'known_logins', `${knownDays} days`, 100);
  return known.is_news;
}

/**
 * Runs `guess` in a transaction for a logged-in user who must enter a code again. If it returns null, the code was
 * wrong: counts a failed login of this account and address and throws REQUEST_INVALID on `code`. Locks the user's row,
 * so that each of many concurrent guesses sees the failures before it. Throws UNAUTHENTICATED if the caller's token was
 * revoked.
 */
export async function guardGuesses<T>(
  em: EntityManager,
  { caller, address, requestId }: { caller: Caller; address: string; requestId: string },
  guess: (tx: EntityManager) => Promise<T | null>,
): Promise<T> {
  const result = await em.fork().transactional(async (tx) => {
    const { id: userId, email_digest } = await lockOwnRow(tx, caller);
    const attempt = loginAttempt(must(email_digest, 'an active user has an address'), address);
    await refuseThrottled(tx, attempt, { ofCodes: true });
    const right = await guess(tx);
    if (right === null) {
      await recordLoginFailure(tx, { attempt, userId, actorId: userId, reason: 'totp_code', requestId });
    }
    return right;
  });
  return result ?? refuse('REQUEST_INVALID', 'is wrong or already used', { field: 'code' });
}
