import { defineEntity, p } from '@mikro-orm/core';
import type { FeeMode } from '../../partners/partner.ts';
import type { PaymentOrderStatus } from '../payments/payment-order.ts';

const PartnerPaymentSchema = defineEntity({
  name: 'PartnerPayment',
  tableName: 'partner_payments',
  properties: {
    id: p.uuid().primary(),
    partner_id: p.uuid(),
    organization_id: p.uuid().nullable(),
    external_ref: p.string().length(128).nullable(),
    channel_id: p.integer(),
    /** The channel's provider, set by a database trigger when the payment is created. */
    provider: p.text().default('xendit'),
    fee_mode: p.text().$type<FeeMode>(),
    /** The gross amount that the customer pays; whole rupiah. */
    amount: p.decimal().precision(20).scale(4),
    fee: p.decimal().precision(20).scale(4),
    net_amount: p.decimal().precision(20).scale(4),
    /** The provider's fee; internal. */
    provider_fee: p.decimal().precision(20).scale(4),
    status: p.text().$type<PaymentOrderStatus>(),
    provider_payment_request_id: p.text().nullable(),
    provider_payment_method_id: p.text().nullable(),
    payment_code: p.text().nullable(),
    failure_code: p.text().nullable(),
    customer_sealed: p.text().nullable(),
    metadata_sealed: p.text().nullable(),
    /** The reusable instrument that was paid, if any. */
    instrument_id: p.uuid().nullable(),
    /** Increases when the payment becomes final and with each further webhook event. */
    version: p.integer().default(0),
    request_id: p.text().nullable(),
    expires_at: p.datetime(),
    /** When the partner cancelled the payment. */
    cancelled_at: p.datetime().nullable(),
    instrument_at: p.datetime().nullable(),
    /** When the instrument was last requested, if the request may have reached the provider. */
    instrument_asked_at: p.datetime().nullable(),
    /**
     * When the provider first reported the payment as paid or pending with no payment that can be settled. Not cleared
     * once the payment is final.
     */
    settling_since: p.datetime().nullable(),
    finalized_at: p.datetime().nullable(),
    /** When the net of a paid payment may leave `pending`. */
    available_at: p.datetime().nullable(),
    released_at: p.datetime().nullable(),
    created_at: p.datetime(),
    updated_at: p.datetime(),
  },
});

/** A partner's payment: an instrument with the statuses of a payment order. Its id is the provider's reference. */
export class PartnerPayment extends PartnerPaymentSchema.class {}
PartnerPaymentSchema.setClass(PartnerPayment);
