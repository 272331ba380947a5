import { defineEntity, p } from '@mikro-orm/core';
import type { PartnerInstrumentStatus } from './partner-instrument.ts';

const PartnerInstrumentSchema = defineEntity({
  name: 'PartnerInstrument',
  tableName: 'partner_instruments',
  properties: {
    id: p.uuid().primary(),
    partner_id: p.uuid(),
    channel_id: p.integer(),
    /** Copied from its channel when it was opened; the database sets it. */
    provider: p.text().default('xendit'),
    /** The exact amount of each payment; null for any. */
    amount: p.decimal().precision(20).scale(4).nullable(),
    external_ref: p.string().length(128).nullable(),
    texts_sealed: p.text().nullable(),
    status: p.text().$type<PartnerInstrumentStatus>(),
    provider_payment_method_id: p.text().nullable(),
    payment_code: p.text().nullable(),
    /** Why the provider refused it. */
    failure_code: p.text().nullable(),
    /** When it was last requested from the provider. */
    asked_at: p.datetime().nullable(),
    /** When its partner requested closing. */
    closing_at: p.datetime().nullable(),
    closed_at: p.datetime().nullable(),
    /** Payments made before this have all been seen. */
    seen_until: p.datetime().nullable(),
    /** For a pass over more payments than one look reads: what it will have seen, and how far back it has come. */
    read_from: p.datetime().nullable(),
    read_before: p.datetime().nullable(),
    /** When the sweep wakes its workflow, unless something else does first. */
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
