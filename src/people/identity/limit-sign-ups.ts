import type { EntityManager } from '@mikro-orm/postgresql';
import { forgetRows } from '../../platform/housekeeping/forget-rows.ts';
import { isDomainError, refuse } from '../../shared/errors.ts';
import { countedAddress, type LoginAttempt, recordLoginFailure, refuseThrottled } from './login-failures.ts';

/** The network address of a sign-up, and how many it may send per hour; undefined is no limit. */
export interface SignUpOrigin {
  address: string;
  perHour: number | undefined;
}

/** Throws TOO_MANY_REQUESTS when the network address has reached its sign-ups of the last hour. */
export async function refuseManySignUps(em: EntityManager, { address, perHour }: SignUpOrigin): Promise<void> {
  if (perHour === undefined) return;
  const [oldest] = await em.execute<{ seconds: string }[]>(
    `select ceil(extract(epoch from made_at + interval '1 hour' - clock_timestamp())) as seconds from sign_ups
     where address = ? and made_at > clock_timestamp() - interval '1 hour'
     order by made_at desc limit 1 offset ?`,
    [countedAddress(address), perHour - 1],
  );
  if (oldest === undefined) return;
  const retryAfterSeconds = Math.max(1, Number(oldest.seconds));
  refuse('TOO_MANY_REQUESTS', 'Too many sign-ups from this address; try again later', { retryAfterSeconds });
}

/**
 * Counts a sign-up in its transaction, until whose end others from the address wait, and deletes counts older than an
 * hour. Throws as `refuseManySignUps` does.
 */
export async function countSignUp(tx: EntityManager, origin: SignUpOrigin): Promise<void> {
  if (origin.perHour === undefined) return;
  const address = countedAddress(origin.address);
  await tx.execute("select pg_advisory_xact_lock(hashtextextended('sign-ups/' || ?, 0))", [address]);
  await refuseManySignUps(tx, origin);
  await tx.execute('insert into sign_ups (address) values (?)', [address]);
  await forgetRows(tx, 'sign_ups', '1 hour', 100);
}

/**
 * Signs up, where a taken address counts as a failed login of that account: whoever asks for many, to learn who has one, is
 * held back as for passwords (TOO_MANY_REQUESTS).
 */
export async function countingTaken<T>(
  em: EntityManager,
  { attempt, requestId }: { attempt: LoginAttempt; requestId: string | null },
  signUp: () => Promise<T>,
): Promise<T> {
  await refuseThrottled(em, attempt);
  try {
    return await signUp();
  } catch (error) {
    if (isDomainError(error) && error.code === 'DUPLICATE') {
      const failure = { attempt, userId: undefined, actorId: null, reason: 'password', requestId } as const;
      await recordLoginFailure(em.fork(), failure);
    }
    throw error;
  }
}
