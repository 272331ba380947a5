import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { refuse } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { lockPartner } from '../find-partner.ts';
import type { AskedEvent } from '../partner.ts';
import { newWebhookSecret } from '../partner-secrets.ts';
import type { TwinnedEndpoint } from '../present-endpoint.ts';
import { WebhookEndpoint } from '../webhook-endpoint.entity.ts';
import { endpointSecretPlace, mostEndpoints, type WebhookEndpointStatus } from '../webhook-endpoint.ts';
import { withTwins } from './find-endpoints.ts';
import { type EndpointChange, recordEndpoint } from './record-endpoint.ts';
import { requireTarget, type TargetRules } from './webhook-target.ts';

export interface NewEndpoint extends EndpointChange {
  url: string;
  events: readonly AskedEvent[];
  status: WebhookEndpointStatus;
}

/** An endpoint with its secret, for the only response that shows it. */
export interface SecretEndpoint {
  endpoint: WebhookEndpoint;
  secret: string;
}

/**
 * Creates a webhook endpoint of a partner. Throws REQUEST_INVALID for a target that is not https or leads to a private
 * address (docs/contract.md 8), and for an eleventh endpoint.
 */
export async function createEndpoint(
  em: EntityManager,
  { sealer, rules }: { sealer: Sealer; rules: TargetRules },
  input: NewEndpoint,
): Promise<SecretEndpoint & TwinnedEndpoint> {
  await requireTarget(input.url, rules);
  return em.transactional(async (tx) => {
    await lockPartner(tx, input.partnerId);
    const made = await insertEndpoint(tx, sealer, input);
    return { ...made, ...(await withTwins(tx, made.endpoint)) };
  });
}

/** Inserts the endpoint and its event; the caller has locked the partner. Generates the secret unless given. */
export async function insertEndpoint(
  tx: EntityManager,
  sealer: Sealer,
  input: NewEndpoint & { setByOperator?: boolean; secret?: string },
): Promise<SecretEndpoint> {
  const { partnerId, url, status, setByOperator = false, secret = newWebhookSecret() } = input;
  if ((await tx.count(WebhookEndpoint, { partner_id: partnerId })) >= mostEndpoints) {
    refuse('REQUEST_INVALID', `the partner already has ${mostEndpoints} endpoints, the maximum`, { field: 'url' });
  }
  const id = newId();
  const now = await readDatabaseClock(tx);
  const events = [...new Set(input.events)];
  const endpoint = tx.create(WebhookEndpoint, {
    id,
    partner_id: partnerId,
    url,
    events,
    status,
    disabled_reason: status === 'disabled' ? 'requested' : null,
    disabled_at: status === 'disabled' ? now : null,
    set_by_operator: setByOperator,
    secret_sealed: await sealer.seal(endpointSecretPlace(id), secret),
    created_at: now,
    updated_at: now,
  });
  await tx.flush();
  await recordEndpoint(tx, input, 'RESOURCE_CREATED', endpoint, { events, status });
  return { endpoint, secret };
}
