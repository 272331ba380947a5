import { defineEntity, p } from '@mikro-orm/core';
import type { CallbackHint } from '../gateway/gateway.ts';

const CallbackSchema = defineEntity({
  name: 'CallbackRow',
  tableName: 'gateway_callbacks',
  properties: {
    id: p.uuid().primary(),
    webhook_id: p.text(),
    event: p.text(),
    kind: p.text().$type<CallbackHint['kind']>(),
    reference: p.text(),
    provider_payment_id: p.text().nullable(),
    provider_payment_request_id: p.text().nullable(),
    provider_payment_method_id: p.text().nullable(),
    provider_transfer_id: p.text().nullable(),
    body_sealed: p.text(),
    received_at: p.datetime(),
    delivered_at: p.datetime().nullable(),
    attempts: p.integer().default(0),
  },
});

/** A callback of the provider as it came, stored before it is answered. */
export class CallbackRow extends CallbackSchema.class {}
CallbackSchema.setClass(CallbackRow);
