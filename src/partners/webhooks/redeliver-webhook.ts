import { type EntityManager, type FilterQuery, LockMode } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import { findPage, type ListWindow } from '../../platform/database/find-page.ts';
import type { Listed } from '../../platform/database/position.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import { forgetLooks, type SweepFailure, sweepRows } from '../../platform/housekeeping/sweep-rows.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import type { WebhookType } from '../partner.ts';
import { WebhookEndpoint } from '../webhook-endpoint.entity.ts';
import { requireEnabled } from './find-endpoints.ts';
import { WebhookDelivery } from './webhook-delivery.entity.ts';
import type { DeliveryWorkflows, WebhookDeliveryStatus } from './webhook-delivery.ts';

export interface DeliveryFilter extends ListWindow {
  partnerId: string;
  status?: WebhookDeliveryStatus | undefined;
  type?: WebhookType | undefined;
  endpointId?: string | undefined;
  resourceId?: string | undefined;
  /** Inclusive. */
  from?: Date | undefined;
  /** Exclusive. */
  to?: Date | undefined;
}

/** A page of a partner's webhooks, newest first by default, and how many match in total. */
export function findDeliveries(
  em: EntityManager,
  { partnerId, status, type, endpointId, resourceId, from, to, ...window }: DeliveryFilter,
): Promise<Listed & { items: WebhookDelivery[] }> {
  const within = { partner_id: partnerId };
  const where: FilterQuery<WebhookDelivery> = {
    ...within,
    ...(status && { status }),
    ...(type && { type }),
    ...(endpointId && { endpoint_id: endpointId }),
    ...(resourceId && { resource_id: resourceId }),
    ...((from ?? to) && { created_at: { ...(from && { $gte: from }), ...(to && { $lt: to }) } }),
  };
  return findPage(em, WebhookDelivery, where, window, { within });
}

/**
 * Sends a webhook again at once, whatever its status, and restarts its three days of retries. Throws NOT_FOUND for
 * another partner's, REQUEST_INVALID if its endpoint was deleted or is disabled, or its body was deleted.
 */
export async function redeliverWebhook(
  em: EntityManager,
  { workflows }: { workflows: Pick<DeliveryWorkflows, 'hastenWebhookDelivery'> },
  input: { caller: Pick<Caller, 'userId'> | null; requestId: string; partnerId: string; deliveryId: string },
): Promise<WebhookDelivery> {
  const reopened = await em.transactional(async (tx) => {
    const delivery = await tx.findOne(
      WebhookDelivery,
      { id: input.deliveryId, partner_id: input.partnerId },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    const field = 'delivery_id';
    if (delivery === null) refuse('NOT_FOUND', 'the webhook delivery was not found', { field });
    const endpoint = await tx.findOne(WebhookEndpoint, { id: delivery.endpoint_id });
    const deleted = 'its endpoint was deleted: there is nowhere to send it';
    requireEnabled(endpoint ?? refuse('REQUEST_INVALID', deleted, { field }), field);
    if (!delivery.body_sealed)
      refuse('REQUEST_INVALID', 'the delivery is too old: its body is no longer stored', { field });
    delivery.status = 'pending';
    delivery.delivered_at = null;
    delivery.next_attempt_at = await readDatabaseClock(tx);
    delivery.redeliveries += 1;
    await tx.flush();
    await forgetLooks(tx, 'webhook_delivery', [delivery.id]);
    await recordAction(tx, input, 'RESOURCE_UPDATED', ['webhook_delivery', delivery.id], { redelivery: true });
    return delivery;
  });
  await workflows.hastenWebhookDelivery(reopened.id);
  return reopened;
}

/** Deliveries over a minute past their next attempt: their workflow was lost or never started. */
export const overdueDeliveries = `select id, next_attempt_at as since from webhook_deliveries
  where status = 'pending' and next_attempt_at < now() - interval '1 minute'`;

/**
 * Starts the workflow of every overdue delivery, or makes a running one attempt it at once, because a replay may have
 * made its row due again. Returns how many there were.
 */
export function sweepDeliveries(
  em: EntityManager,
  workflows: Pick<DeliveryWorkflows, 'hastenWebhookDelivery'>,
  failed: SweepFailure,
): Promise<number> {
  const wake = (id: string) => workflows.hastenWebhookDelivery(id);
  return sweepRows(em, [{ kind: 'webhook_delivery', due: overdueDeliveries, wake }], failed);
}
