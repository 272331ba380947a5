import { anyToAny, type StatusOf, statusLaw } from '../shared/status-law.ts';

/** Statuses, permissions and events of partners (docs/contract.md 8). Operators set the status. */
export const partnerLaw = statusLaw({
  initial: ['pending'],
  transitions: anyToAny(['pending', 'active', 'suspended']),
});
export type PartnerStatus = StatusOf<typeof partnerLaw>;

/** Whether the fee is deducted from the requested amount (DEDUCTED) or added to it (ADDED). */
export const feeModes = ['DEDUCTED', 'ADDED'] as const;
export type FeeMode = (typeof feeModes)[number];

/** Permissions of API keys. */
export const partnerPermissions = [
  'collect-payment',
  'read-gateway',
  'request-payout',
  'approve-payout',
  'refund-payment',
  'manage-webhooks',
  'manage-keys',
] as const;
export type PartnerPermission = (typeof partnerPermissions)[number];

export const collectionMethods = ['virtual_account', 'qris', 'ewallet'] as const;
/** Targets of fee rules. */
export const feeMethods = [...collectionMethods, 'payout'] as const;
export type FeeMethod = (typeof feeMethods)[number];

/** The outcomes of payments, payouts, refunds and batches; every partner needs them. */
export const outcomeEvents = [
  'payment.succeeded',
  'payment.failed',
  'payment.expired',
  'payout.succeeded',
  'payout.failed',
  'payout.reversed',
  'refund.succeeded',
  'refund.failed',
  'payout_batch.completed',
] as const;

/** The events to which an endpoint can subscribe. */
export const webhookEvents = [
  ...outcomeEvents,
  'payment.available',
  'payment.unmatched',
  'instrument.unmatched',
  'payout.delayed',
] as const;
export type WebhookEvent = (typeof webhookEvents)[number];

/** Subscribes to every event, including those added later. */
export const allEvents = '*';
/** The values that an endpoint may subscribe to. */
export const askableEvents = [...webhookEvents, allEvents] as const;
export type AskedEvent = (typeof askableEvents)[number];

/** The event that tests an endpoint, whatever its subscriptions. */
export const endpointTest = 'endpoint.test';
/** Every type of webhook. */
export const webhookTypes = [...webhookEvents, endpointTest] as const;
export type WebhookType = (typeof webhookTypes)[number];

/** Hours for which a rotated key or webhook secret still works. */
export const rotationOverlapHours = 24;

/** The longest settlement delay: how long the net of a paid payment may stay in `pending`. */
export const longestSettlementDelayHours = 8760;
