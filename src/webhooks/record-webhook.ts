import type { EntityManager } from '@mikro-orm/postgresql';
import type { Place, Sealer } from '../encryption/sealer.ts';
import type { WebhookEvent } from '../partners/partner.ts';
import { newId } from '../shared/ids.ts';
import { WebhookDelivery } from './webhook-delivery.entity.ts';
import type { WebhookResource } from './webhook-delivery.ts';

export interface NewWebhook {
  partnerId: string;
  resourceType: WebhookResource;
  resourceId: string;
  /** Grows with each event of the resource. */
  version: number;
  type: WebhookEvent;
  at: Date;
  /** The resource as the read endpoint shows it now. */
  data: object;
}

/** Where a frozen body rests: it may name a bank account. */
export const webhookBodyPlace = (deliveryId: string): Place => ({
  table: 'webhook_deliveries',
  column: 'body_sealed',
  row: deliveryId,
});

/**
 * Freezes a webhook in the transaction of what it tells; it is sent later, as it is now. Returns the delivery's id, or
 * null when the partner has not asked for this event.
 */
export async function recordWebhook(tx: EntityManager, sealer: Sealer, webhook: NewWebhook): Promise<string | null> {
  const { partnerId, resourceType, resourceId, type, version, at } = webhook;
  const wanted = await tx.execute<unknown[]>(
    'select 1 from webhook_endpoints where partner_id = ? and ? = any(events)',
    [partnerId, type],
  );
  if (wanted.length === 0) return null;
  const id = newId();
  const body = JSON.stringify({ type, timestamp: at.toISOString(), data: { ...webhook.data, version } });
  await tx.execute(
    'insert into webhook_version_keys (resource_type, resource_id, version, delivery_id) values (?, ?, ?, ?)',
    [resourceType, resourceId, version, id],
  );
  tx.create(WebhookDelivery, {
    id,
    partner_id: partnerId,
    resource_type: resourceType,
    resource_id: resourceId,
    version,
    type,
    body_sealed: await sealer.seal(webhookBodyPlace(id), body),
    next_attempt_at: at,
    created_at: at,
  });
  await tx.flush();
  return id;
}

/**
 * The webhooks of a resource that are still under way, the oldest first: what a step answers that is repeated after it
 * had written them, and whose answer was lost.
 */
export async function findPendingWebhooks(
  tx: EntityManager,
  resource: { resourceType: WebhookResource; resourceId: string },
): Promise<string[]> {
  const rows = await tx.execute<{ id: string }[]>(
    `select d.id from webhook_version_keys k join webhook_deliveries d on d.id = k.delivery_id
     where k.resource_type = ? and k.resource_id = ? and d.status = 'pending' order by k.version`,
    [resource.resourceType, resource.resourceId],
  );
  return rows.map(({ id }) => id);
}
