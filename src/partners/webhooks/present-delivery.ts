import { z } from 'zod';
import { timestamp, uuid } from '../../platform/http/fields.ts';
import { webhookTypes } from '../partner.ts';
import type { WebhookDelivery } from './webhook-delivery.entity.ts';
import { webhookDeliveryLaw, webhookIdOf } from './webhook-delivery.ts';

export const DeliveryShape = z
  .object({
    id: uuid(),
    endpoint_id: uuid(),
    webhook_id: z.string(),
    type: z.enum(webhookTypes),
    resource_id: uuid(),
    version: z.int(),
    status: z.enum(webhookDeliveryLaw.statuses),
    attempts: z.int(),
    last_status: z.int().nullable(),
    last_error: z.string().nullable(),
    next_attempt_at: timestamp().nullable(),
    delivered_at: timestamp().nullable(),
    created_at: timestamp(),
  })
  .meta({ id: 'WebhookDelivery' });

/** A delivery without its body, which may name a bank account. */
export const presentDelivery = (delivery: WebhookDelivery) => ({
  id: delivery.id,
  endpoint_id: delivery.endpoint_id,
  webhook_id: webhookIdOf(delivery.id),
  type: delivery.type,
  resource_id: delivery.resource_id,
  version: delivery.version,
  status: delivery.status,
  attempts: delivery.attempts,
  last_status: delivery.last_status ?? null,
  last_error: delivery.last_error ?? null,
  next_attempt_at: delivery.next_attempt_at?.toISOString() ?? null,
  delivered_at: delivery.delivered_at?.toISOString() ?? null,
  created_at: delivery.created_at.toISOString(),
});
