import type { EntityManager } from '@mikro-orm/postgresql';
import { forgetRows } from '../housekeeping/forget-rows.ts';
import { refuse } from '../shared/errors.ts';
import { countedAddress } from './login-failures.ts';

/** Where a sign-up comes from, and how many may come from there within an hour; undefined is no limit. */
export interface SignUpOrigin {
  address: string;
  perHour: number | undefined;
}

/** Refuses with TOO_MANY_REQUESTS when the network address has signed up as many as it may within the hour. */
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
 * Counts a sign-up in its own transaction, others from the address waiting until that ends, and forgets what no hour
 * reaches any more. Refuses as `refuseManySignUps`.
 */
export async function countSignUp(tx: EntityManager, origin: SignUpOrigin): Promise<void> {
  if (origin.perHour === undefined) return;
  const address = countedAddress(origin.address);
  await tx.execute("select pg_advisory_xact_lock(hashtextextended('sign-ups/' || ?, 0))", [address]);
  await refuseManySignUps(tx, origin);
  await tx.execute('insert into sign_ups (address) values (?)', [address]);
  await forgetRows(tx, 'sign_ups', '1 hour', 100);
}
