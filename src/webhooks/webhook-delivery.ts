import { type StatusOf, statusLaw } from '../shared/status-law.ts';

/** Where a webhook may be: parked ones, and delivered ones too, may be sent again by hand. */
export const webhookDeliveryLaw = statusLaw({
  initial: ['pending'],
  transitions: {
    pending: ['delivered', 'parked'],
    delivered: ['pending'],
    parked: ['pending'],
  },
});
export type WebhookDeliveryStatus = StatusOf<typeof webhookDeliveryLaw>;

/** What a webhook is about. */
export type WebhookResource = 'payment' | 'payout' | 'endpoint';

/** The `webhook-id` of a delivery: the same at every attempt, so that the receiver can tell a repetition. */
export const webhookIdOf = (deliveryId: string): string => `msg_${deliveryId.replaceAll('-', '')}`;

/** What the workflow of a delivery is started with. */
export interface WebhookDeliveryInput {
  deliveryId: string;
}

/** The workflows of deliveries, as use cases meet them; made by `temporal/`, passed in. */
export interface DeliveryWorkflows {
  /** Starts the delivery's workflow, or leaves the one that runs alone. */
  startWebhookDelivery(deliveryId: string): Promise<void>;
  /** Starts the delivery's workflow, or makes the one that runs try at once. */
  hastenWebhookDelivery(deliveryId: string): Promise<void>;
  /**
   * The same for the first hundred of these, while nobody waits; it never fails, as a sweep finds the rest, and what
   * could not be reached.
   */
  hastenWebhookDeliveries(deliveryIds: readonly string[]): void;
}

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** From the first attempt on, a webhook is tried for this long; then it is parked. */
export const webhookLifetimeMs = 72 * hourMs;

/** The waits between attempts grow; the last attempt is at the end of the three days. */
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
 * How long to wait after attempt number `attempt` (from 1), `elapsedMs` after the first one; null when there is no
 * further one. What the receiver asked for (`Retry-After`) makes it longer, never shorter.
 */
export function waitAfterAttempt(attempt: number, elapsedMs: number, retryAfterMs = 0): number | null {
  const left = webhookLifetimeMs - elapsedMs;
  if (left <= 0) return null;
  const wait = waitsMs[attempt - 1] ?? left;
  return Math.min(Math.max(wait, retryAfterMs), left);
}
