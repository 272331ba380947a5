import type { Place } from '../encryption/sealer.ts';
import { anyToAny, type StatusOf, statusLaw } from '../shared/status-law.ts';
import { webhookLifetimeMs } from './webhook-delivery.ts';

/** The statuses of an endpoint; a disabled one collects no webhooks. */
export const webhookEndpointLaw = statusLaw({
  initial: ['enabled', 'disabled'],
  transitions: anyToAny(['enabled', 'disabled']),
});
export type WebhookEndpointStatus = StatusOf<typeof webhookEndpointLaw>;

/** Why an endpoint is disabled: on request, or as no request to it succeeded for three days. */
export const disabledReasons = ['requested', 'failing'] as const;
export type DisabledReason = (typeof disabledReasons)[number];

/** The most endpoints of one partner, including the one that operators set. */
export const mostEndpoints = 10;

/**
 * An endpoint is disabled when every request to it has failed for this long (milliseconds): as long as a webhook is
 * retried, less a minute for the difference in duration of the first and last attempts.
 */
export const failingLimitMs = webhookLifetimeMs - 60_000;

/** Where an endpoint's sealed secrets are stored. */
export const endpointSecretPlace = (
  row: string,
  column: 'secret_sealed' | 'previous_secret_sealed' = 'secret_sealed',
): Place => ({ table: 'webhook_endpoints', column, row });
