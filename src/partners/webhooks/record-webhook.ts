import type { EntityManager } from '@mikro-orm/postgresql';
import type { Place, Sealer } from '../../platform/encryption/sealer.ts';
import { must } from '../../shared/assert.ts';
import { sha256 } from '../../shared/digest.ts';
import { allEvents, type WebhookType } from '../partner.ts';
import { WebhookDelivery } from './webhook-delivery.entity.ts';
import type { WebhookResource } from './webhook-delivery.ts';

export interface NewWebhook {
  partnerId: string;
  resourceType: WebhookResource;
  resourceId: string;
  /** The batch of a payout, if the batch holds the encryption key. */
  batchId?: string | null | undefined;
  /** Increases with each event of the resource. */
  version: number;
  type: WebhookType;
  at: Date;
  /** The resource as currently returned by its read endpoint. */
  data: object;
  /** Whether it only tests an endpoint. */
  isTest?: true;
}

/** Where a frozen body is sealed; under its order's key if it may name a person (`orderNamedBy`). */
export const webhookBodyPlace = (deliveryId: string): Place => ({
  table: 'webhook_deliveries',
  column: 'body_sealed',
  row: deliveryId,
});

/**
 * Freezes a webhook in the transaction of the event that it reports, once for each enabled, subscribed endpoint of the
 * partner; each is sent later with this body. Returns the delivery ids; none without subscribers.
 */
export async function recordWebhook(tx: EntityManager, sealer: Sealer, webhook: NewWebhook): Promise<string[]> {
  const asking = await tx.execute<{ id: string }[]>(
    `select id from webhook_endpoints where partner_id = ? and status = 'enabled' and events && array[?, ?]
     order by created_at, id`,
    [webhook.partnerId, webhook.type, allEvents],
  );
  const ids: string[] = [];
  for (const { id } of asking) ids.push(await recordDelivery(tx, sealer, webhook, id));
  return ids;
}

/** Freezes a webhook for one endpoint, whatever its subscriptions; returns the delivery's id. */
export async function recordDelivery(
  tx: EntityManager,
  sealer: Sealer,
  webhook: NewWebhook,
  endpointId: string,
): Promise<string> {
  const { partnerId, resourceType, resourceId, type, version, at, isTest } = webhook;
  const mark = isTest && { test: true };
  const body = JSON.stringify({ type, timestamp: at.toISOString(), ...mark, data: { ...webhook.data, version } });
  // An id from the database's clock, which decides the month's partition.
  const [key] = await tx.execute<{ id: string }[]>(
    `insert into webhook_version_keys (resource_type, resource_id, version, endpoint_id, delivery_id)
     values (?, ?, ?, ?, uuidv7()) returning delivery_id as id`,
    [resourceType, resourceId, version, endpointId],
  );
  const { id } = must(key, 'an insert returns a row');
  tx.create(WebhookDelivery, {
    id,
    partner_id: partnerId,
    endpoint_id: endpointId,
    resource_type: resourceType,
    resource_id: resourceId,
    version,
    type,
    body_sealed: await sealer.seal({ ...webhookBodyPlace(id), order: orderNamedBy(webhook) }, body),
    body_digest: sha256(body),
    next_attempt_at: at,
    created_at: at,
  });
  await tx.flush();
  return id;
}

/** Payouts and refunds show the beneficiary, instruments the customer, and metadata may name anybody. */
const orderNamedBy = ({ resourceType, resourceId, batchId, data }: NewWebhook): Place['order'] =>
  resourceType === 'payout' || resourceType === 'refund' || has(data, 'metadata') || has(data, 'customer_name')
    ? { id: batchId ?? resourceId }
    : null;
const has = (data: object, name: string): boolean => ((data as Record<string, unknown>)[name] ?? null) !== null;

/**
 * The webhooks of a resource that are still pending, oldest first. A retried step returns them if its first run
 * recorded them but its result was lost.
 */
export async function findPendingWebhooks(
  tx: EntityManager,
  resource: { resourceType: WebhookResource; resourceId: string },
): Promise<string[]> {
  const rows = await tx.execute<{ id: string }[]>(
    `select d.id from webhook_version_keys k join webhook_deliveries d on d.id = k.delivery_id
     where k.resource_type = ? and k.resource_id = ? and d.status = 'pending' order by k.version, k.endpoint_id`,
    [resource.resourceType, resource.resourceId],
  );
  return rows.map(({ id }) => id);
}
