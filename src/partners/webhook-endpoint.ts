import type { Place } from '../platform/encryption/sealer.ts';
import { anyToAny, type StatusOf, statusLaw } from '../shared/status-law.ts';

/** The statuses of an endpoint; a disabled one receives no webhooks. */
export const webhookEndpointLaw = statusLaw({
  initial: ['enabled', 'disabled'],
  transitions: anyToAny(['enabled', 'disabled']),
});
export type WebhookEndpointStatus = StatusOf<typeof webhookEndpointLaw>;

/** Why an endpoint is disabled: on request, or because no delivery succeeded for three days. */
export const disabledReasons = ['requested', 'failing'] as const;
export type DisabledReason = (typeof disabledReasons)[number];

/** Maximum endpoints of one partner, including the one set by operators. */
export const mostEndpoints = 10;

/** An earlier secret, which still signs for a while. */
export interface EarlierSecret {
  secret: string;
  /** ISO 8601, by the database's clock. */
  until: string;
}

/** Maximum earlier secrets that sign in addition to the newest; each adds a signature to every request. */
export const mostEarlierSecrets = 4;

/** Where an endpoint's secrets are sealed. */
export const endpointSecretPlace = (
  row: string,
  column: 'secret_sealed' | 'earlier_secrets_sealed' = 'secret_sealed',
): Place => ({ table: 'webhook_endpoints', column, row });
