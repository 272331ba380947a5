import type { EntityManager } from '@mikro-orm/postgresql';
import ipaddr from 'ipaddr.js';
import { recordEvent } from '../events/record-event.ts';
import { forgetRows } from '../housekeeping/forget-rows.ts';
import { sha256 } from '../shared/digest.ts';
import { refuse } from '../shared/errors.ts';
import type { Caller } from './caller.ts';
import { lockOwnRow } from './end-tokens.ts';

/** Failed logins that are tolerated within the window (docs/contract.md 1). */
const failuresPerAccountAndAddress = 10;
const failuresPerAddress = 100;
const windowMinutes = 15;
/** Who logged in well from an address within this is not held back by what others do there. */
const knownDays = 30;

/** Who tries: the account as a digest (it may belong to nobody), and the network address. */
export interface LoginAttempt {
  account: string;
  address: string;
}

/** The address that failures are counted by: a whole /64 for IPv6, where one person has that many. */
export function countedAddress(address: string): string {
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4' ? parsed.toString() : `${parsed.toNormalizedString().split(':', 4).join(':')}::/64`;
}

/** One spelling of an address, by which failures are counted and its account is found: two would count apart. */
export const foldEmail = (email: string): string => email.trim().toLowerCase();

export function loginAttempt(email: string, address: string): LoginAttempt {
  return { account: sha256(foldEmail(email)), address: countedAddress(address) };
}

/**
 * Refuses with TOO_MANY_REQUESTS while the account from this address, or the address, has failed too often. Strangers
 * behind an address do not lock out those who are known to log in there.
 */
export async function refuseThrottled(em: EntityManager, { account, address }: LoginAttempt): Promise<void> {
  const wait = (limit: number) =>
    `ceil(extract(epoch from (array_agg(failed_at order by failed_at desc))[${limit}] + interval '${windowMinutes} minutes' - clock_timestamp()))`;
  const [row] = await em.execute<[{ by_account: string | null; by_address: string | null }]>(
    `select (select ${wait(failuresPerAccountAndAddress)} from login_failures
             where address = ? and account_hash = ? and failed_at > clock_timestamp() - interval '${windowMinutes} minutes') as by_account,
            (select ${wait(failuresPerAddress)} from login_failures
             where address = ? and failed_at > clock_timestamp() - interval '${windowMinutes} minutes'
               and not exists (select from known_logins k where k.account_hash = ? and k.address = ?
                 and k.logged_in_at > clock_timestamp() - interval '${knownDays} days')) as by_address`,
    [address, account, address, account, address],
  );
  const seconds = Math.max(Number(row.by_account ?? 0), Number(row.by_address ?? 0));
  if (row.by_account === null && row.by_address === null) return;
  refuse('TOO_MANY_REQUESTS', 'Too many failed logins; try again later', { retryAfterSeconds: Math.max(1, seconds) });
}

export interface LoginFailure {
  attempt: LoginAttempt;
  /** The account, where there is one. */
  userId: string | undefined;
  /** Who is known to have tried: whoever was logged in already. */
  actorId: string | null;
  reason: 'password' | 'totp_code';
  requestId: string;
}

/** Counts a failed login, and forgets what no window reaches any more; that of a known account leaves an event. */
export async function recordLoginFailure(
  em: EntityManager,
  { attempt: { account, address }, userId, actorId, reason, requestId }: LoginFailure,
): Promise<void> {
  await em.transactional(async (tx) => {
    await tx.execute('insert into login_failures (address, account_hash) values (?, ?)', [address, account]);
    await forgetRows(tx, 'login_failures', `${windowMinutes} minutes`, 100);
    if (userId === undefined) return;
    await recordEvent(tx, {
      event: 'USER_LOGIN_FAILED',
      resourceType: 'user',
      resourceId: userId,
      actorId,
      requestId,
      data: { reason },
    });
  });
}

/**
 * Counts a password that was checked, which comes after the work for it: those of one account and address one after
 * another, so that each of many at once knows of the failures before it. Refuses with TOO_MANY_REQUESTS, the right one as
 * the wrong ones: who guesses many at once must not be told the right one by its answer.
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

/** Remembers that the account logged in well from this address, and forgets what is older than that counts. */
export async function rememberLogin(tx: EntityManager, { account, address }: LoginAttempt): Promise<void> {
  await tx.execute(
    `insert into known_logins (account_hash, address) values (?, ?)
     on conflict (account_hash, address) do update set logged_in_at = excluded.logged_in_at`,
    [account, address],
  );
  await forgetRows(tx, 'known_logins', `${knownDays} days`, 100);
}

/**
 * Runs `guess` in a transaction for somebody who is logged in and proves it again by a code: null means that the code is
 * wrong, which counts as a failed login of this account and address. The user's row is locked, so that each of many
 * guesses at once knows of the failures before it. Refuses a wrong code with REQUEST_INVALID naming `code`, and with
 * UNAUTHENTICATED a caller whose token has ended meanwhile.
 */
export async function guardGuesses<T>(
  em: EntityManager,
  { caller, address, requestId }: { caller: Caller; address: string; requestId: string },
  guess: (tx: EntityManager) => Promise<T | null>,
): Promise<T> {
  const result = await em.fork().transactional(async (tx) => {
    const { id: userId, email } = await lockOwnRow(tx, caller);
    const attempt = loginAttempt(email, address);
    await refuseThrottled(tx, attempt);
    const right = await guess(tx);
    if (right === null) {
      await recordLoginFailure(tx, { attempt, userId, actorId: userId, reason: 'totp_code', requestId });
    }
    return right;
  });
  return result ?? refuse('REQUEST_INVALID', 'is wrong or was used already', { field: 'code' });
}
