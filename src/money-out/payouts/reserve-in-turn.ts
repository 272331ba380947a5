import type { EntityManager } from '@mikro-orm/postgresql';
import { stampOpening } from '../../platform/openings/idempotency-keys.ts';
import { type Creation, createOnce } from '../../platform/openings/open-once.ts';
import { budgets } from '../../shared/budgets.ts';
import { createSemaphore } from '../../shared/concurrency.ts';
import type { OpeningPlace, OpeningStamp } from '../../shared/opening.ts';

interface Reservation<Found, Prepared> extends Pick<Creation<Found, Prepared>, 'find' | 'prepare'> {
  /** Starts as in `createOnce`, given the milliseconds that the request may still wait. */
  start(opening: Prepared & { stamp: OpeningStamp }, waitMs: number): Promise<NonNullable<unknown> | null>;
}

/**
 * Limits how many payouts of one kind a process reserves at once, in all and per key (the owner of the money); returns
 * a function that creates a payout in turn. A waiting request reads limits and balance in its turn, so that under load
 * hopeless ones are refused without starting a workflow. The limit per key leaves slots for others if one payer's rows
 * are locked and its reservations pile up.
 */
export function createReservationTurns() {
  const semaphore = createSemaphore(24, { perKey: 8, mostWaiting: 500 });
  /**
   * Stamps the opening if it has no stamp, creates the payout and waits for its reservation. Throws as `createOnce`.
   */
  return async <Found, Prepared>(
    em: EntityManager,
    { turnOf, ...opening }: OpeningPlace & { turnOf: string; unavailable: string; stamp?: OpeningStamp },
    { find, prepare, start }: Reservation<Found, Prepared>,
  ): Promise<Found> => {
    const livesMs = budgets.requests.payoutReservation;
    const endsAt = performance.now() + livesMs;
    const stamp = opening.stamp ?? (await stampOpening(em, opening.claim ? {} : { livesMs }));
    const leave = await semaphore.enter({ key: turnOf, waitMs: endsAt - performance.now() - budgets.requests.away });
    try {
      return await createOnce(
        em,
        { ...opening, stamp },
        { find, prepare, start: (stamped) => start(stamped, Math.max(1, endsAt - performance.now())) },
      );
    } finally {
      leave();
    }
  };
}
