/** When to poll the provider: if a callback is lost, only polling finds the outcome. All in milliseconds. */

import { budgets } from './budgets.ts';

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** How often to check, without a hint, something that waits for people's decision. */
export const decisionLookMs = 6 * hourMs;

// Payments, whose payers have hours or days.

const paymentIntervalsMs = [minuteMs, 5 * minuteMs, 15 * minuteMs, hourMs] as const;
/** If callbacks arrive, polling finds few payments after the first hour. */
const calledBackIntervalMs = 4 * hourMs;

/**
 * How long a payment waits for a callback before it polls, by the number of polls so far: growing, then hourly, or
 * every four hours while callbacks arrive.
 */
export const paymentWaitMs = (round: number, { callbacksCome = false } = {}): number =>
  paymentIntervalsMs[round] ?? (callbacksCome ? calledBackIntervalMs : hourMs);

/** The longest pause between two attempts to request an instrument. */
const longestInstrumentWaitMs = 5 * minuteMs;

/**
 * How long to wait, from `now`, before requesting again an instrument first requested at `since`: the duration of an
 * attempt, plus a pause about as long as the time so far, up to the maximum. Ends at the deadline at the latest. All
 * times are epoch milliseconds.
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
 * How long to wait at `now` while the provider reports paid or pending and nothing can be settled, by how long that has
 * lasted: 5 seconds at first, growing to 30, then hourly after ten minutes. Ends at the deadline at the latest. All
 * times are epoch milliseconds.
 */
export function settlingWaitMs({ since, deadline, now }: { since: number; deadline: number; now: number }): number {
  const elapsed = now - since;
  const interval = elapsed < settlingBoundMs ? Math.min(Math.max(elapsed / 4, 5 * secondMs), 30 * secondMs) : hourMs;
  const left = deadline - now;
  return Math.round(left > 0 ? Math.min(interval, left) : interval);
}

// Payouts whose money the bank has, or may have.

/** After this long with an unknown outcome a payout is marked for operators (docs/contract.md 8); polling continues. */
export const operatorsAfterMs = 10 * minuteMs;

/**
 * How long to wait before asking the provider again, `elapsedMs` after the money was reserved: 5 seconds at first,
 * growing to 30 in the first ten minutes, then a tenth of the payout's age, at most an hour.
 */
export function payoutWaitMs(elapsedMs: number): number {
  const wait = elapsedMs < operatorsAfterMs ? Math.min(elapsedMs / 2, 30 * secondMs) : Math.min(elapsedMs / 10, hourMs);
  return Math.round(Math.max(wait, 5 * secondMs));
}

/** The longest wait after the provider rate-limits us, unless it demands more. */
const longestRestWaitMs = 30 * secondMs;

/** `payoutWaitMs` if calls to the provider must pause for `restMs`; 0 means no limit. */
export function nextPayoutWaitMs(elapsedMs: number, restMs: number): number {
  const wait = payoutWaitMs(elapsedMs);
  return restMs > 0 ? Math.max(restMs, Math.min(wait, longestRestWaitMs)) : wait;
}

/** A pending payout whose poll is overdue by this much has lost its workflow; the sweep restarts it. */
export const overdueGraceMs = 5 * minuteMs;

/**
 * Ages at which the provider is asked again after a success, or a failure set by an operator: a success may be
 * reversed.
 */
const laterLooksMs = [30 * secondMs, hourMs, 24 * hourMs, 72 * hourMs] as const;

/** How long until a check of a final payout is repeated if the provider did not answer. */
export const unansweredLookMs = hourMs;

/** When to check a final payout again; null if no more checks are due. */
export function nextPayoutLookAt(finalizedAt: Date, now: Date): Date | null {
  const age = now.getTime() - finalizedAt.getTime();
  const next = laterLooksMs.find((look) => look > age);
  return next === undefined ? null : new Date(finalizedAt.getTime() + next);
}
