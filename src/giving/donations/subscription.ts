import { westernIndonesiaOffsetMs } from '../../shared/clock.ts';
import type { Money } from '../../shared/money.ts';
import type { OpeningStamp } from '../../shared/opening.ts';
import { type StatusOf, statusLaw } from '../../shared/status-law.ts';

/** Intervals, statuses and due dates of subscriptions (docs/contract.md 5); workflows import them, too. */
export const subscriptionIntervals = ['weekly', 'monthly'] as const;
export type SubscriptionInterval = (typeof subscriptionIntervals)[number];

/** The statuses of a subscription. Its donor stops it, or it fails. */
export const subscriptionLaw = statusLaw({
  initial: ['active'],
  transitions: {
    active: ['stopped', 'failed'],
    stopped: [],
    failed: [],
  },
});
export type SubscriptionStatus = StatusOf<typeof subscriptionLaw>;

/** The outcome of an attempt at a period, recorded with the attempt. */
export const subscriptionAttemptLaw = statusLaw({
  initial: ['paid', 'refused'],
  transitions: {
    paid: [],
    refused: [],
  },
});

/**
 * Maximum attempts: when a period is due and a day after each refusal. The third refusal ends the subscription;
 * refusals by the receiving side do not count.
 */
export const attemptsPerPeriod = 3;

const dayMs = 24 * 60 * 60 * 1000;

/** Returns the later of the database's clock and the workflow's, which runs ahead when tests skip time. */
export const madeAt = (now: Date, at: string | undefined): Date =>
  new Date(Math.max(now.getTime(), at === undefined ? 0 : Date.parse(at)));

/** Adds calendar months in UTC+7, with the day clamped to the month's end. */
function addMonths(start: Date, months: number): Date {
  const local = new Date(start.getTime() + westernIndonesiaOffsetMs);
  const day = local.getUTCDate();
  local.setUTCDate(1);
  local.setUTCMonth(local.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(local.getUTCFullYear(), local.getUTCMonth() + 1, 0)).getUTCDate();
  local.setUTCDate(Math.min(day, lastDay));
  return new Date(local.getTime() - westernIndonesiaOffsetMs);
}

/** Returns when a period is due: that many weeks or months after the first payment, so that days do not drift. */
export function dueAt(startedAt: Date, interval: SubscriptionInterval, period: number): Date {
  return interval === 'monthly' ? addMonths(startedAt, period) : new Date(startedAt.getTime() + period * 7 * dayMs);
}

/**
 * Returns when an attempt (1, 2, 3) at a period is due: the first with the period, others a day after the previous
 * attempt; all at the earliest a day after the receiving side postponed the period.
 */
export function attemptAt(due: Date, attempt: number, lastAttemptAt: Date, postponedAt: Date | null = null): Date {
  const at = attempt === 1 ? due : new Date(lastAttemptAt.getTime() + dayMs);
  return new Date(Math.max(at.getTime(), postponedAt === null ? 0 : postponedAt.getTime() + dayMs));
}

/** The input from which a subscription is created: ids and the amount. */
export interface SubscriptionOpening {
  userId: string;
  causeId: string;
  /** IDR, scale 4. */
  amount: Money;
  sourceAccountId: string;
  interval: SubscriptionInterval;
  /** Whether to refuse it as a double click if an equal subscription was just begun; false with an idempotency key. */
  refusesTwin?: boolean;
  requestId: string;
  stamp: OpeningStamp;
}

/** The input of a subscription's workflow. */
export interface DonationSubscriptionInput {
  subscriptionId: string;
  /** The request; absent when the workflow is restarted for an existing row. */
  opening?: SubscriptionOpening;
}

/** The port to the workflows of subscriptions; implemented in `temporal/`, injected. */
export interface SubscriptionWorkflows {
  /**
   * Starts the workflow of a subscription, or joins the running one, and waits at most `waitMs` for its first payment.
   * Returns null on a timeout. Throws as the first payment does, and SERVICE_UNAVAILABLE if Temporal is unavailable.
   */
  startDonationSubscription(
    input: Required<DonationSubscriptionInput>,
    waitMs: number,
  ): Promise<SubscriptionStanding | null>;
  /**
   * Signals the subscription's workflow, or restarts it from its row. Never throws; a sweep makes up for a lost signal.
   */
  wakeSubscription(subscriptionId: string): Promise<void>;
  /** As `wakeSubscription`, for that sweep: throws if Temporal does not accept the signal. */
  lookAfterSubscription(subscriptionId: string): Promise<void>;
}

/** A subscription's state, as its workflow needs it. */
export interface SubscriptionStanding {
  status: SubscriptionStatus;
  interval: SubscriptionInterval;
  /** Time of the first payment, ISO 8601. */
  startedAt: string;
  /** The next period and attempt. */
  period: number;
  attempt: number;
  /** When the last attempt was made, ISO 8601. */
  lastAttemptAt: string;
  /** When the receiving side last refused this period, ISO 8601. */
  postponedAt?: string;
  /** Set when the attempt was too early and not made: the remaining milliseconds, by the database's clock. */
  earlyByMs?: number;
}
