/** When the provider is asked unasked: a callback may be lost, and then only asking tells. Milliseconds everywhere. */

import { budgets } from './budgets.ts';

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

// Payments: their payers have hours or days.

const paymentIntervalsMs = [minuteMs, 5 * minuteMs, 15 * minuteMs, hourMs] as const;

/** How long a payment waits for a callback before it asks, by how often it has asked: growing, and then an hour. */
export const paymentWaitMs = (round: number): number => paymentIntervalsMs[round] ?? hourMs;

/** Between two attempts to get an instrument, which grow apart, there is at most this. */
const longestInstrumentWaitMs = 5 * minuteMs;

/**
 * By when, from `now`, the provider is asked again for an instrument that is asked for since `since`: an attempt may be under
 * way, and the wait after it is no longer than all of before. The deadline is looked at when it comes. All instants are
 * milliseconds of the epoch.
 */
export function instrumentWaitMs({ since, deadline, now }: { since: number; deadline: number; now: number }): number {
  const pause = Math.min(Math.max(now - since, 0) + secondMs, longestInstrumentWaitMs);
  const wait = budgets.steps.instrument + pause;
  const left = deadline - now;
  return Math.round(left > 0 ? Math.min(wait, left) : wait);
}

/** A payment that has been settling for this long is listed for operators. */
export const settlingBoundMs = 10 * minuteMs;

/**
 * How long to wait at `now` while the provider says paid or pending and nothing can be settled, by how long it has done
 * so: 5 seconds at first, growing to 30 within ten minutes, and then an hour. The deadline is looked at when it comes.
 * All instants are milliseconds of the epoch.
 */
export function settlingWaitMs({ since, deadline, now }: { since: number; deadline: number; now: number }): number {
  const elapsed = now - since;
  const interval = elapsed < settlingBoundMs ? Math.min(Math.max(elapsed / 4, 5 * secondMs), 30 * secondMs) : hourMs;
  const left = deadline - now;
  return Math.round(left > 0 ? Math.min(interval, left) : interval);
}

// Payouts: the bank has the money, or nobody knows.

/** A payout that is unknown for this long is marked for operators (docs/contract.md 8); it is asked for all the same. */
export const operatorsAfterMs = 10 * minuteMs;

/**
 * How long to wait before asking the provider again, `elapsedMs` after the money was reserved: 5 seconds at first,
 * growing to 30 in the first ten minutes, then with the payout's age to an hour.
 */
export function payoutWaitMs(elapsedMs: number): number {
  const wait = elapsedMs < operatorsAfterMs ? Math.min(elapsedMs / 2, 30 * secondMs) : Math.min(elapsedMs / 10, hourMs);
  return Math.round(Math.max(wait, 5 * secondMs));
}

/** After being told to wait, the provider is called again after this long at most, unless it named a longer time. */
const longestRestWaitMs = 30 * secondMs;

/** As `payoutWaitMs`, when the provider is not called for `restMs`, because calls to it are limited; 0 is no limit. */
export function nextPayoutWaitMs(elapsedMs: number, restMs: number): number {
  const wait = payoutWaitMs(elapsedMs);
  return restMs > 0 ? Math.max(restMs, Math.min(wait, longestRestWaitMs)) : wait;
}

/** A pending payout whose workflow is this late with asking has lost it: the sweep starts it again. */
export const overdueGraceMs = 5 * minuteMs;

/** After success, and after an operator's failure, the provider is asked again at these ages: success may be taken back. */
const laterLooksMs = [30 * secondMs, hourMs, 24 * hourMs, 72 * hourMs] as const;

/** A look at a final payout that the provider did not answer is made again after so long. */
export const unansweredLookMs = hourMs;

/** When to look at a final payout again; null when it has been looked at for long enough. */
export function nextPayoutLookAt(finalizedAt: Date, now: Date): Date | null {
  const age = now.getTime() - finalizedAt.getTime();
  const next = laterLooksMs.find((look) => look > age);
  return next === undefined ? null : new Date(finalizedAt.getTime() + next);
}
