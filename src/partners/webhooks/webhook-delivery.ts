import { type StatusOf, statusLaw } from '../../shared/status-law.ts';

/** The statuses of a webhook delivery; a parked or delivered one may be sent again on request. */
export const webhookDeliveryLaw = statusLaw({
  initial: ['pending'],
  transitions: {
    pending: ['delivered', 'parked'],
    delivered: ['pending'],
    parked: ['pending'],
  },
});
export type WebhookDeliveryStatus = StatusOf<typeof webhookDeliveryLaw>;

/** The types of resources that webhooks report. */
export type WebhookResource = 'payment' | 'payout' | 'refund' | 'payout_batch' | 'instrument' | 'endpoint';

/** The `webhook-id` of a delivery: the same at every attempt, so that the receiver can detect duplicates. */
export const webhookIdOf = (deliveryId: string): string => `msg_${deliveryId.replaceAll('-', '')}`;

/** The input of a delivery's workflow. */
export interface WebhookDeliveryInput {
  deliveryId: string;
}

/** The port to the workflows of deliveries; its adapter is in `temporal/`. */
export interface DeliveryWorkflows {
  /** Starts the delivery's workflow; leaves a running one alone. */
  startWebhookDelivery(deliveryId: string): Promise<void>;
  /** Starts the delivery's workflow, or makes a running one try at once. */
  hastenWebhookDelivery(deliveryId: string): Promise<void>;
  /**
   * Starts or hastens the workflow of each, in the background, `inMs` milliseconds from now, at `replayedPerSecond`;
   * all calls in this process share that rate. Never fails: a sweep finds those that could not be started.
   */
  hastenWebhookDeliveries(deliveryIds: readonly string[], options?: { inMs?: number }): void;
}

/** The rate of a replay: slow enough for Temporal and the partner's endpoint to keep up with new events. */
export const replayedPerSecond = 20;

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** How long after the first attempt a webhook is retried before it is parked. */
export const webhookLifetimeMs = 72 * hourMs;

/**
 * An endpoint is disabled once every request to it has failed for this long (milliseconds): as long as a webhook is
 * retried, less a minute because the first and last attempts differ in duration.
 */
export const failingLimitMs = webhookLifetimeMs - 60_000;

/** The growing waits between attempts; the last attempt is at the end of the three days. */
const waitsMs = [
  5 * secondMs,
  30 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  1 * hourMs,
  2 * hourMs,
  4 * hourMs,
  6 * hourMs,
  8 * hourMs,
  10 * hourMs,
  12 * hourMs,
  14 * hourMs,
] as const;

/**
 * Milliseconds to wait after attempt number `attempt` (from 1), `elapsedMs` after the first one; null if it was the
 * last. `retryAfterMs` (the receiver's `Retry-After`) can lengthen the wait, never shorten it.
 */
export function waitAfterAttempt(attempt: number, elapsedMs: number, retryAfterMs = 0): number | null {
  const left = webhookLifetimeMs - elapsedMs;
  if (left <= 0) return null;
  const wait = waitsMs[attempt - 1] ?? left;
  return Math.min(Math.max(wait, retryAfterMs), left);
}
