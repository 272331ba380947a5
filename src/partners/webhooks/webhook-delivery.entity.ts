import { defineEntity, p } from '@mikro-orm/core';
import type { WebhookType } from '../partner.ts';
import type { WebhookDeliveryStatus, WebhookResource } from './webhook-delivery.ts';

const WebhookDeliverySchema = defineEntity({
  name: 'WebhookDelivery',
  tableName: 'webhook_deliveries',
  properties: {
    id: p.uuid().primary(),
    partner_id: p.uuid(),
    endpoint_id: p.uuid(),
    resource_type: p.text().$type<WebhookResource>(),
    resource_id: p.uuid(),
    version: p.integer(),
    type: p.text().$type<WebhookType>(),
    /** Null once the body is deleted; never while pending. */
    body_sealed: p.text().nullable(),
    /** SHA-256 of the body, in hex. */
    body_digest: p.text(),
    status: p.text().$type<WebhookDeliveryStatus>().default('pending'),
    attempts: p.integer().default(0),
    last_status: p.smallint().nullable(),
    last_error: p.text().nullable(),
    next_attempt_at: p.datetime().nullable(),
    delivered_at: p.datetime().nullable(),
    /**
     * The number of redeliveries requested. An attempt that began before the last request does not complete the
     * delivery.
     */
    redeliveries: p.integer().default(0),
    created_at: p.datetime(),
  },
});

/** A webhook to an endpoint. Its body is frozen at the event, however late it is sent. */
export class WebhookDelivery extends WebhookDeliverySchema.class {}
WebhookDeliverySchema.setClass(WebhookDelivery);
