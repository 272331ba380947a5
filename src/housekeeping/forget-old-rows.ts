import type { EntityManager } from '@mikro-orm/postgresql';
import { sweepReadEvents } from '../events/list-events.ts';
import { forgetOpenings } from '../openings/forget-openings.ts';
import { forgetRefusals } from '../payments/forget-refusals.ts';
import { forgetRows } from './forget-rows.ts';
import { forgetOldLooks } from './sweep-rows.ts';

/** How long the first answer under a user's idempotency key is kept; the key itself stays with the row it created. */
const userAnswersKeptDays = 30;
/** No limit looks further back than a day. */
const talliesKept = '2 days';
/** How many rows of each kind one run deletes; the next run continues. */
const roundLimit = 10_000;

/**
 * Deletes rows that are kept for a limited time: read events (90 days), answers and refusals under users' idempotency
 * keys, looks of the sweeps, verdicts on openings, and tallies of payouts; the bodies of callbacks and webhooks after
 * `bodiesKeptDays`, for ever without it. Returns how many.
 */
export async function forgetOldRows(
  em: EntityManager,
  { bodiesKeptDays }: { bodiesKeptDays?: number | undefined } = {},
): Promise<number> {
  const bodies = async (kind: 'callback_bodies' | 'webhook_bodies') =>
    bodiesKeptDays === undefined ? 0 : forgetRows(em, kind, `${bodiesKeptDays} days`, roundLimit);
  return (
    (await bodies('callback_bodies')) +
    (await bodies('webhook_bodies')) +
    (await forgetRows(em, 'idempotency_keys', `${userAnswersKeptDays} days`, roundLimit)) +
    (await sweepReadEvents(em, roundLimit)) +
    (await forgetOldLooks(em, roundLimit)) +
    (await forgetRefusals(em, roundLimit)) +
    (await forgetOpenings(em, roundLimit)) +
    (await forgetRows(em, 'payout_tallies', talliesKept, roundLimit))
  );
}
