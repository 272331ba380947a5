import { anyToAny, type StatusOf, statusLaw } from '../shared/status-law.ts';

/** Pure facts about partners (docs/contract.md 8). Operators set the status. */
export const partnerLaw = statusLaw({
  initial: ['pending'],
  transitions: anyToAny(['pending', 'active', 'suspended']),
});
export type PartnerStatus = StatusOf<typeof partnerLaw>;

/** Whether the fee is taken out of what the customer pays, or put on top of what the partner asks for. */
export const feeModes = ['DEDUCTED', 'ADDED'] as const;
export type FeeMode = (typeof feeModes)[number];

/** What an API key may do. */
export const partnerPermissions = [
  'collect-payment',
  'read-gateway',
  'request-payout',
  'manage-webhooks',
  'manage-keys',
] as const;
export type PartnerPermission = (typeof partnerPermissions)[number];

export const collectionMethods = ['virtual_account', 'qris', 'ewallet'] as const;
/** What a fee rule may be about. */
export const feeMethods = [...collectionMethods, 'payout'] as const;
export type FeeMethod = (typeof feeMethods)[number];

/** How payments and payouts end: what every partner needs to be told. */
export const outcomeEvents = [
  'payment.succeeded',
  'payment.failed',
  'payment.expired',
  'payout.succeeded',
  'payout.failed',
  'payout.reversed',
] as const;

/** What webhooks tell whoever asks for it. */
export const webhookEvents = [...outcomeEvents, 'payment.available', 'payment.unmatched', 'payout.delayed'] as const;
export type WebhookEvent = (typeof webhookEvents)[number];

/** What is sent to an endpoint to try it; nobody asks for it beforehand. */
export const endpointTest = 'endpoint.test';
/** Everything that a webhook may be. */
export const webhookTypes = [...webhookEvents, endpointTest] as const;
export type WebhookType = (typeof webhookTypes)[number];

/** A key that was rotated, and a webhook secret that was, work this many hours more. */
export const rotationOverlapHours = 24;

/** Idempotent answers are kept this many days. */
export const answersKeptDays = 30;

/** The longest a paid net may wait in `pending`. */
export const longestSettlementDelayHours = 8760;
