import type { EntityManager } from '@mikro-orm/postgresql';
import { forgetRows } from '../../platform/housekeeping/forget-rows.ts';
import { sha256 } from '../../shared/digest.ts';
import { isDomainError, refuse } from '../../shared/errors.ts';
import { countedAddress, type LoginAttempt, recordLoginFailure, refuseThrottled } from './login-failures.ts';

/** The network address of a sign-up, and its hourly limit; undefined means no limit. */
export interface SignUpOrigin {
  address: string;
  perHour: number | undefined;
}

/** An hourly limit, and the error text once it is reached. */
interface Counted {
  key: string;
  perHour: number;
  complaint: string;
}

const ofSignUps = ({ address, perHour }: SignUpOrigin): Counted | null =>
  perHour === undefined
    ? null
    : { key: countedAddress(address), perHour, complaint: 'Too many sign-ups from this address; try again later' };

async function refuseMany(em: EntityManager, { key, perHour, complaint }: Counted): Promise<void> {
  const [oldest] = await em.execute<{ seconds: string }[]>(
    `select ceil(extract(epoch from made_at + interval '1 hour' - clock_timestamp())) as seconds from sign_ups
     where address = ? and made_at > clock_timestamp() - interval '1 hour'
     order by made_at desc limit 1 offset ?`,
    [key, perHour - 1],
  );
  if (oldest === undefined) return;
  refuse('TOO_MANY_REQUESTS', complaint, { retryAfterSeconds: Math.max(1, Number(oldest.seconds)) });
}

async function count(tx: EntityManager, counted: Counted): Promise<void> {
  await tx.execute("select pg_advisory_xact_lock(hashtextextended('sign-ups/' || ?, 0))", [counted.key]);
  await refuseMany(tx, counted);
  await tx.execute('insert into sign_ups (address) values (?)', [counted.key]);
  await forgetRows(tx, 'sign_ups', '1 hour', 100);
}

/** Throws TOO_MANY_REQUESTS when the network address has reached its limit of sign-ups in the last hour. */
export async function refuseManySignUps(em: EntityManager, origin: SignUpOrigin): Promise<void> {
  const counted = ofSignUps(origin);
  if (counted !== null) await refuseMany(em, counted);
}

/**
 * Counts a sign-up in its transaction, and deletes counts older than an hour. Other sign-ups from the address wait
 * until the transaction ends. Throws as `refuseManySignUps` does.
 */
export async function countSignUp(tx: EntityManager, origin: SignUpOrigin): Promise<void> {
  const counted = ofSignUps(origin);
  if (counted !== null) await count(tx, counted);
}

/**
 * Counts an organization's invitation to an e-mail address, given by its digest, because each sends an e-mail that the
 * recipient may not want. Throws TOO_MANY_REQUESTS after ten in an hour from all organizations together, including
 * withdrawn ones.
 */
export const countInvitation = (tx: EntityManager, emailDigest: string): Promise<void> =>
  count(tx, {
    key: sha256(emailDigest),
    perHour: 10,
    complaint: 'Too many invitations to this address; try again later',
  });

/**
 * Runs a sign-up. A taken address counts as a failed login of that account, so that probing for accounts is limited
 * like guessing passwords (TOO_MANY_REQUESTS).
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
