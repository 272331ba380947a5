import { defineEntity, p } from '@mikro-orm/core';
import type { AskedEvent } from './partner.ts';
import type { DisabledReason, WebhookEndpointStatus } from './webhook-endpoint.ts';

const WebhookEndpointSchema = defineEntity({
  name: 'WebhookEndpoint',
  tableName: 'webhook_endpoints',
  properties: {
    id: p.uuid().primary(),
    partner_id: p.uuid(),
    url: p.string().length(2000),
    events: p.array().$type<AskedEvent[]>(),
    status: p.text().$type<WebhookEndpointStatus>().default('enabled'),
    disabled_reason: p.text().$type<DisabledReason>().nullable(),
    disabled_at: p.datetime().nullable(),
    /** When requests to it began to fail. */
    failing_since: p.datetime().nullable(),
    /** Whether operators set it by `PUT webhook`. */
    set_by_operator: p.boolean().default(false),
    tests: p.integer().default(0),
    secret_sealed: p.text(),
    /** The `EarlierSecret`s as JSON, newest first. */
    earlier_secrets_sealed: p.text().nullable(),
    created_at: p.datetime(),
    updated_at: p.datetime(),
  },
});

/** A URL for a partner's webhooks, and its subscribed events; its secrets are sealed. */
export class WebhookEndpoint extends WebhookEndpointSchema.class {}
WebhookEndpointSchema.setClass(WebhookEndpoint);
