import type { EntityManager } from '@mikro-orm/postgresql';
import { must } from '../../shared/assert.ts';
import type { Payout } from './payout.entity.ts';
import type { PayoutAttemptOutcome } from './payout.ts';
import type { MadeAttempt } from './repeating.ts';

/** The attempts of a payout that may have reached the provider, oldest first. */
export function findMadeAttempts(em: EntityManager, payoutId: string): Promise<MadeAttempt[]> {
  return em.execute<MadeAttempt[]>(
    `select number, outcome, failure_code as "failureCode", ${age('sent_at')} as "ageMs",
       ${age('not_known_at')} as "notKnownAgeMs"
     from payout_attempts where payout_id = ? and outcome is distinct from 'unsent' order by number`,
    [payoutId],
  );
}

/**
 * SQL: when the first request that may have reached the provider was sent; null if none was. `payoutId` is an SQL
 * expression.
 */
export const firstSentAt = (payoutId: string): string =>
  `(select min(sent_at) from payout_attempts where payout_id = ${payoutId} and outcome is distinct from 'unsent')`;

/** When polling for a payout starts: at its first request, which may be long after its reservation. */
export async function readAskedSince(em: EntityManager, { id, created_at: reservedAt }: Payout): Promise<Date> {
  const [row] = await em.execute<{ at: string | Date | null }[]>(`select ${firstSentAt('?')} as at`, [id]);
  return row?.at ? new Date(row.at) : reservedAt;
}

const age = (column: string): string => `(extract(epoch from clock_timestamp() - ${column}) * 1000)::float8`;

/**
 * Records that the provider, asked at `askedAt` (the database's clock), did not know the transfer. Closes the attempt
 * if it was made long enough before.
 */
export async function closeAttempt(
  tx: EntityManager,
  { payoutId, number, askedAt }: { payoutId: string; number: number; askedAt: Date },
): Promise<void> {
  await tx.execute('select close_payout_attempt(?, ?, ?::timestamptz)', [payoutId, number, askedAt]);
}

/**
 * Opens an attempt and returns its number; null while transfers are held. `isMade`: the provider already has the
 * transfer, which is therefore never held. The database refuses an attempt while another is open, or if the payout may
 * no longer be sent.
 */
export async function openAttempt(
  tx: EntityManager,
  payoutId: string,
  { isMade = false } = {},
): Promise<number | null> {
  const [row] = await tx.execute<{ number: number | null }[]>('select open_payout_attempt(?, ?) as number', [
    payoutId,
    isMade,
  ]);
  return must(row, 'the function returns a row').number;
}

/** Whether the attempt may still be sent: it is recent enough, the payout is pending, and transfers are not held. */
export async function maySend(
  em: EntityManager,
  { payoutId, number, withinMs }: { payoutId: string; number: number; withinMs: number },
): Promise<boolean> {
  const found = await em.execute<unknown[]>(
    `select 1 from payout_attempts a join payouts p on p.id = a.payout_id
     where a.payout_id = ? and a.number = ? and p.status = 'pending' and not payouts_held()
       and a.sent_at > clock_timestamp() - make_interval(secs => ?)`,
    [payoutId, number, withinMs / 1000],
  );
  return found.length > 0;
}

/** Records an attempt's answer. Returns whether any other attempt, and any later one, may have reached the provider. */
export async function answerAttempt(
  tx: EntityManager,
  answer: { payoutId: string; number: number; outcome: PayoutAttemptOutcome; failureCode: string | null },
): Promise<{ others: boolean; later: boolean }> {
  const { payoutId, number, outcome, failureCode } = answer;
  await tx.execute('select answer_payout_attempt(?, ?, ?, ?)', [payoutId, number, outcome, failureCode]);
  const others = (await findMadeAttempts(tx, payoutId)).filter((attempt) => attempt.number !== number);
  return { others: others.length > 0, later: others.some((attempt) => attempt.number > number) };
}
