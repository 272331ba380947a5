import type { Place } from '../encryption/sealer.ts';
import { anyToAny, type StatusOf, statusLaw } from '../shared/status-law.ts';
import { webhookLifetimeMs } from './webhook-delivery.ts';

/** Whether an endpoint is told; a disabled one collects nothing meanwhile. */
export const webhookEndpointLaw = statusLaw({
  initial: ['enabled', 'disabled'],
  transitions: anyToAny(['enabled', 'disabled']),
});
export type WebhookEndpointStatus = StatusOf<typeof webhookEndpointLaw>;

/** Why one is disabled: somebody asked for it, or nothing had succeeded there for three days. */
export const disabledReasons = ['requested', 'failing'] as const;
export type DisabledReason = (typeof disabledReasons)[number];

/** A partner has so many at most, the one that operators set among them. */
export const mostEndpoints = 10;

/**
 * An endpoint at which every request has failed for so long (milliseconds) is disabled: as long as a webhook is tried,
 * less the moments that its first and last attempts may take differently.
 */
export const failingLimitMs = webhookLifetimeMs - 60_000;

/** Where the secrets of an endpoint rest, sealed. */
export const endpointSecretPlace = (
  row: string,
  column: 'secret_sealed' | 'previous_secret_sealed' = 'secret_sealed',
): Place => ({ table: 'webhook_endpoints', column, row });
