import type { EntityDictionary } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import { findPage, type ListWindow } from '../../platform/database/find-page.ts';
import type { Listed } from '../../platform/database/position.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { refuse } from '../../shared/errors.ts';
import { textArray } from '../../shared/postgres.ts';
import { lockPartner } from '../find-partner.ts';
import type { TwinnedEndpoint } from '../present-endpoint.ts';
import { WebhookEndpoint } from '../webhook-endpoint.entity.ts';
import { type EarlierSecret, endpointSecretPlace, type WebhookEndpointStatus } from '../webhook-endpoint.ts';
import { WebhookDelivery } from './webhook-delivery.entity.ts';

interface EndpointFilter extends ListWindow {
  partnerId: string;
  status?: WebhookEndpointStatus | undefined;
}

/** A page of a partner's endpoints, newest first by default, with the total. */
export function findEndpoints(
  em: EntityManager,
  { partnerId, status, ...window }: EndpointFilter,
): Promise<Listed & { items: WebhookEndpoint[] }> {
  const within = { partner_id: partnerId };
  return findPage(em, WebhookEndpoint, { ...within, ...(status && { status }) }, window, { within });
}

/** The newest delivery of each endpoint that has one. */
export async function findLastDeliveries(
  em: EntityManager,
  endpoints: readonly WebhookEndpoint[],
): Promise<Map<string, WebhookDelivery>> {
  const rows = await em.execute<EntityDictionary<WebhookDelivery>[]>(
    `select last.* from unnest(?::uuid[]) asked (endpoint_id)
     cross join lateral (select d.* from webhook_deliveries d where d.endpoint_id = asked.endpoint_id
       order by d.created_at desc, d.id desc limit 1) last`,
    [textArray(endpoints.map(({ id }) => id))],
  );
  return new Map(rows.map((row) => em.map(WebhookDelivery, row)).map((delivery) => [delivery.endpoint_id, delivery]));
}

/** The endpoint, with the ids of others that have the same URL. */
export async function withTwins(tx: EntityManager, endpoint: WebhookEndpoint): Promise<TwinnedEndpoint> {
  const { id, partner_id, url } = endpoint;
  const twins = await tx.find(WebhookEndpoint, { partner_id, url, id: { $ne: id } }, { orderBy: { id: 'asc' } });
  return { endpoint, twins: twins.map((twin) => twin.id) };
}

/**
 * An endpoint of this partner, by the `id` in its path. Locks the partner's row until the transaction ends. Throws
 * NOT_FOUND.
 */
export async function lockEndpoint(
  tx: EntityManager,
  { partnerId, endpointId }: { partnerId: string; endpointId: string },
): Promise<WebhookEndpoint> {
  await lockPartner(tx, partnerId);
  const endpoint = await tx.findOne(WebhookEndpoint, { id: endpointId, partner_id: partnerId }, { refresh: true });
  return endpoint ?? refuse('NOT_FOUND', 'the webhook endpoint was not found', { field: 'id' });
}

/** The secrets that sign for an endpoint now: its current one, and earlier ones for 24 hours after rotation. */
export async function openSecrets(em: EntityManager, sealer: Sealer, endpoint: WebhookEndpoint): Promise<string[]> {
  const newest = await sealer.open(endpointSecretPlace(endpoint.id), endpoint.secret_sealed);
  const earlier = await openEarlierSecrets(em, sealer, endpoint);
  return [newest, ...earlier.map(({ secret }) => secret)];
}

/** The earlier secrets of an endpoint that still sign, newest first. */
export async function openEarlierSecrets(
  em: EntityManager,
  sealer: Sealer,
  { id, earlier_secrets_sealed: sealed }: WebhookEndpoint,
): Promise<EarlierSecret[]> {
  if (!sealed) return [];
  const kept: EarlierSecret[] = JSON.parse(
    await sealer.open(endpointSecretPlace(id, 'earlier_secrets_sealed'), sealed),
  );
  const now = await readDatabaseClock(em);
  return kept.filter(({ until }) => new Date(until) > now);
}

/** Throws REQUEST_INVALID for a disabled endpoint, naming the request's field. */
export function requireEnabled({ status }: Pick<WebhookEndpoint, 'status'>, field: string): void {
  if (status !== 'enabled') refuse('REQUEST_INVALID', 'the endpoint is disabled: enable it first', { field });
}

/** `requireEnabled` for an `endpoint_id`. Throws NOT_FOUND for another partner's endpoint. */
export async function requireEnabledEndpoint(
  em: EntityManager,
  { partnerId, endpointId }: { partnerId: string; endpointId: string },
): Promise<void> {
  const endpoint = await em.findOne(WebhookEndpoint, { id: endpointId, partner_id: partnerId });
  const field = 'endpoint_id';
  requireEnabled(endpoint ?? refuse('NOT_FOUND', 'the webhook endpoint was not found', { field }), field);
}
