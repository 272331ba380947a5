import type { EntityManager } from '@mikro-orm/postgresql';
import { sweepReadEvents } from '../events/list-events.ts';
import { forgetOpenings } from '../openings/forget-openings.ts';
import { forgetRefusals } from '../payments/forget-refusals.ts';
import { forgetRows } from './forget-rows.ts';
import { forgetOldLooks } from './sweep-rows.ts';

/** How long the first answer under an idempotency key of a user is kept; the key itself stays with what it made. */
const userAnswersKeptDays = 30;
/** How many rows of each kind one round forgets; the next goes on. */
const roundLimit = 10_000;

/**
 * Forgets what is kept for a time only: events of reads (90 days), answers under idempotency keys of users, and what was
 * refused under them, looks of the sweeps, and verdicts of openings.
 * Returns how many.
 */
export async function forgetOldRows(em: EntityManager): Promise<number> {
  return (
    (await forgetRows(em, 'idempotency_keys', `${userAnswersKeptDays} days`, roundLimit)) +
    (await sweepReadEvents(em, roundLimit)) +
    (await forgetOldLooks(em, roundLimit)) +
    (await forgetRefusals(em, roundLimit)) +
    (await forgetOpenings(em, roundLimit))
  );
}
