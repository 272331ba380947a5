import { defineEntity, p } from '@mikro-orm/core';
import type { PaymentOrderStatus, ReferenceType } from './payment-order.ts';

const PaymentOrderSchema = defineEntity({
  name: 'PaymentOrder',
  tableName: 'payment_orders',
  properties: {
    id: p.uuid().primary(),
    user_id: p.uuid(),
    organization_id: p.uuid().nullable(),
    reference_type: p.text().$type<ReferenceType>(),
    reference_id: p.uuid(),
    /** The member of a shared target for whom the payment is made, if not the payer. */
    on_behalf_of: p.uuid().nullable(),
    target_account_id: p.uuid(),
    payment_id: p.integer(),
    /** The channel's provider, set by a database trigger when the order is created. */
    provider: p.text().default('xendit'),
    nominal: p.decimal().precision(20).scale(4),
    admin_fee: p.decimal().precision(20).scale(4),
    /** The provider's fee, posted with the settlement; 0 until then. Internal. */
    provider_fee: p.decimal().precision(20).scale(4).default('0'),
    status: p.text().$type<PaymentOrderStatus>(),
    provider_payment_request_id: p.text().nullable(),
    provider_payment_method_id: p.text().nullable(),
    payment_code: p.text().nullable(),
    failure_code: p.text().nullable(),
    texts_sealed: p.text().nullable(),
    expires_at: p.datetime(),
    /** When the payer cancelled the order. */
    cancelled_at: p.datetime().nullable(),
    request_id: p.text().nullable(),
    created_at: p.datetime(),
    updated_at: p.datetime(),
    finalized_at: p.datetime().nullable(),
    /** When the instrument was last requested, if the request may have reached the provider. */
    instrument_asked_at: p.datetime().nullable(),
    /**
     * When the provider first reported it paid or pending with no payment that can be settled. Not cleared once final.
     */
    settling_since: p.datetime().nullable(),
  },
});

/** A gateway payment. Its id is the provider's reference and idempotency key. */
export class PaymentOrder extends PaymentOrderSchema.class {}
PaymentOrderSchema.setClass(PaymentOrder);
