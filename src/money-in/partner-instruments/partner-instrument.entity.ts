import { defineEntity, p } from '@mikro-orm/core';
import type { PartnerInstrumentStatus } from './partner-instrument.ts';

const PartnerInstrumentSchema = defineEntity({
  name: 'PartnerInstrument',
  tableName: 'partner_instruments',
  properties: {
    id: p.uuid().primary(),
    partner_id: p.uuid(),
    channel_id: p.integer(),
    /** The channel's provider, set by a database trigger when the instrument is created. */
    provider: p.text().default('xendit'),
    /** The exact amount of each payment; null for any amount. */
    amount: p.decimal().precision(20).scale(4).nullable(),
    external_ref: p.string().length(128).nullable(),
    texts_sealed: p.text().nullable(),
    status: p.text().$type<PartnerInstrumentStatus>(),
    provider_payment_method_id: p.text().nullable(),
    payment_code: p.text().nullable(),
    /** Why the provider refused the instrument. */
    failure_code: p.text().nullable(),
    /** When the instrument was last requested from the provider. */
    asked_at: p.datetime().nullable(),
    /** When the partner requested closing. */
    closing_at: p.datetime().nullable(),
    closed_at: p.datetime().nullable(),
    /** All payments made before this have been seen. */
    seen_until: p.datetime().nullable(),
    /** For a pass over more payments than one poll reads: the next `seen_until`, and how far back the pass has come. */
    read_from: p.datetime().nullable(),
    read_before: p.datetime().nullable(),
    /** When the sweep wakes the workflow if it has not polled by then. */
    look_again_at: p.datetime().nullable(),
    /** The version in its webhooks. */
    version: p.integer().default(0),
    request_id: p.text().nullable(),
    created_at: p.datetime(),
    updated_at: p.datetime(),
  },
});

/** A reusable number or code of a partner's customer. Its id is the provider's reference. */
export class PartnerInstrument extends PartnerInstrumentSchema.class {}
PartnerInstrumentSchema.setClass(PartnerInstrument);
