import { defineEntity, p } from '@mikro-orm/core';
import type { CallbackHint } from '../../platform/gateway/gateway.ts';

const CallbackSchema = defineEntity({
  name: 'CallbackRow',
  tableName: 'gateway_callbacks',
  properties: {
    id: p.uuid().primary(),
    provider: p.text(),
    webhook_id: p.text(),
    event: p.text().nullable(),
    kind: p.text().$type<CallbackHint['kind']>().nullable(),
    reference: p.text().nullable(),
    /** Why the body could not be read; an unread callback is not delivered to a workflow. */
    unread: p.text().nullable(),
    /** SHA-256 of all received bytes, in hex. */
    body_digest: p.text(),
    body_bytes: p.bigint(),
    /** How the sealed text encodes the bytes: as UTF-8, or as base64 when they are not exactly UTF-8. */
    body_encoding: p.text().$type<'utf8' | 'base64'>().default('utf8'),
    provider_payment_id: p.text().nullable(),
    provider_payment_request_id: p.text().nullable(),
    provider_payment_method_id: p.text().nullable(),
    provider_transfer_id: p.text().nullable(),
    /** Null once retention has deleted it. */
    body_sealed: p.text().nullable(),
    received_at: p.datetime(),
    delivered_at: p.datetime().nullable(),
    attempts: p.integer().default(0),
  },
});

/** A callback of the provider as received, stored before it is answered. */
export class CallbackRow extends CallbackSchema.class {}
CallbackSchema.setClass(CallbackRow);
