import type { OpeningStamp } from '../openings/opening.ts';
import { westernIndonesiaOffsetMs } from '../shared/clock.ts';
import type { Money } from '../shared/money.ts';
import { type StatusOf, statusLaw } from '../shared/status-law.ts';

/** Facts about subscriptions (docs/contract.md 5). Pure: workflows use them too. */
export const subscriptionIntervals = ['weekly', 'monthly'] as const;
export type SubscriptionInterval = (typeof subscriptionIntervals)[number];

/** Where a subscription may go: it ends stopped by its donor, or failed. */
export const subscriptionLaw = statusLaw({
  initial: ['active'],
  transitions: {
    active: ['stopped', 'failed'],
    stopped: [],
    failed: [],
  },
});
export type SubscriptionStatus = StatusOf<typeof subscriptionLaw>;

/** What came of an attempt at a period; it is written with the attempt. */
export const subscriptionAttemptLaw = statusLaw({
  initial: ['paid', 'refused'],
  transitions: {
    paid: [],
    refused: [],
  },
});

/** A period is tried when it is due and a day after each refusal; the third refusal ends the subscription. */
export const attemptsPerPeriod = 3;

const dayMs = 24 * 60 * 60 * 1000;

/**
 * When something was made: by the database's clock, or by the workflow's where that is ahead, as time is skipped in tests.
 * So nobody dates it back.
 */
export const madeAt = (now: Date, at: string | undefined): Date =>
  new Date(Math.max(now.getTime(), at === undefined ? 0 : Date.parse(at)));

/** `start` plus whole months by the calendar of UTC+7, the day clamped to the month's end. */
function addMonths(start: Date, months: number): Date {
  const local = new Date(start.getTime() + westernIndonesiaOffsetMs);
  const day = local.getUTCDate();
  local.setUTCDate(1);
  local.setUTCMonth(local.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(local.getUTCFullYear(), local.getUTCMonth() + 1, 0)).getUTCDate();
  local.setUTCDate(Math.min(day, lastDay));
  return new Date(local.getTime() - westernIndonesiaOffsetMs);
}

/** When a period is paid: that many weeks or months after the first payment; each counted from it, so no day drifts. */
export function dueAt(startedAt: Date, interval: SubscriptionInterval, period: number): Date {
  return interval === 'monthly' ? addMonths(startedAt, period) : new Date(startedAt.getTime() + period * 7 * dayMs);
}

/**
 * When an attempt (1, 2, 3) at a period is made: the first when it is due, another a day after the one before was made,
 * however late that was. Where nobody knows when it was made (null), it was made in time.
 */
export function attemptAt(due: Date, attempt: number, lastAttemptAt: Date | null): Date {
  if (attempt === 1) return due;
  return lastAttemptAt === null
    ? new Date(due.getTime() + (attempt - 1) * dayMs)
    : new Date(lastAttemptAt.getTime() + dayMs);
}

/** What a subscription is begun with: ids and the amount. */
export interface SubscriptionOpening {
  userId: string;
  causeId: string;
  /** IDR, scale 4. */
  amount: Money;
  sourceAccountId: string;
  interval: SubscriptionInterval;
  requestId: string;
  /** Absent in what an older release has started. */
  stamp?: OpeningStamp;
}

/** What the workflow of a subscription is started with. */
export interface DonationSubscriptionInput {
  subscriptionId: string;
  /** What the request asked for. Absent when a subscription that has its row goes on. */
  opening?: SubscriptionOpening;
}

/** The workflows of subscriptions, as use cases meet them; made by `temporal/`, passed in. */
export interface SubscriptionWorkflows {
  /**
   * Starts the workflow of a subscription, or joins the one that runs, and waits at most `waitMs` for its first payment.
   * Null when the wait ended without an answer. Refuses what the first payment refuses, and with SERVICE_UNAVAILABLE when
   * Temporal is away.
   */
  startDonationSubscription(
    input: Required<DonationSubscriptionInput>,
    waitMs: number,
  ): Promise<SubscriptionStanding | null>;
  /** Wakes the subscription's workflow, or starts it again from its row. Never fails: what is lost, a sweep finds. */
  wakeSubscription(subscriptionId: string): Promise<void>;
  /** The same for that sweep, which has to know: throws when Temporal does not take it. */
  lookAfterSubscription(subscriptionId: string): Promise<void>;
}

/** How a subscription stands, as its workflow needs to know it. */
export interface SubscriptionStanding {
  status: SubscriptionStatus;
  interval: SubscriptionInterval;
  /** Of the first payment, ISO 8601. */
  startedAt: string;
  /** The period and the attempt that come next. */
  period: number;
  attempt: number;
  /** When the last attempt was made, ISO 8601; histories of before do not know. */
  lastAttemptAt?: string | null;
  /** Where an attempt came too early and was not made: so many milliseconds were left, by the database's clock. */
  earlyByMs?: number;
}
