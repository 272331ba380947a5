import { budgets } from '../../shared/budgets.ts';
import type { PayoutAttemptOutcome } from './payout.ts';

const minuteMs = 60 * 1000;
const hourMs = 60 * minuteMs;

/**
 * For this long, a request may still be in transit, or its transfer not yet listed. Until then a missing transfer
 * proves nothing (the database enforces this too), and two people may not settle the payout. Two minutes, in
 * milliseconds.
 */
export const mayBeUnderWayMs = budgets.provider.underWay;

/** How long after each attempt the next may be made; at most five attempts per payout. */
const waitsMs = [mayBeUnderWayMs, 10 * minuteMs, hourMs, 6 * hourMs] as const;

/** How long a "not known" answer stays valid; then the provider is polled again. */
const freshMs = minuteMs;

/** An attempt that may have reached the provider; ages in milliseconds by the database's clock. */
export interface MadeAttempt {
  number: number;
  outcome: Exclude<PayoutAttemptOutcome, 'unsent'> | null;
  failureCode: string | null;
  ageMs: number;
  /** Age of the provider's "not known", if asked long enough after the attempt; otherwise null. */
  notKnownAgeMs: number | null;
}

/**
 * Milliseconds until the same request may be repeated at the earliest, if the provider does not know the transfer then;
 * null if it may never be repeated.
 */
export function mayRepeatInMs(made: readonly MadeAttempt[], resendHours: number): number | null {
  const [first] = made;
  const last = made.at(-1);
  const waitMs = waitsMs[made.length - 1];
  if (first === undefined || last === undefined || waitMs === undefined) return null;
  const inMs = Math.max(0, waitMs - last.ageMs);
  return first.ageMs + inMs < resendHours * hourMs ? inMs : null;
}

/**
 * Whether the same request may be sent after these attempts (oldest first). Always if there are none; otherwise only if
 * the provider has just reported that it knows none of them, at growing intervals, at most five times in all, and
 * within `resendHours` of the first, while the provider is sure to retain the idempotency key. 0 hours: never.
 */
export function mayRepeat(made: readonly MadeAttempt[], resendHours: number): boolean {
  const last = made.at(-1);
  if (last === undefined) return true;
  const isFresh = last.notKnownAgeMs !== null && last.notKnownAgeMs <= freshMs;
  return isFresh && mayRepeatInMs(made, resendHours) === 0;
}
