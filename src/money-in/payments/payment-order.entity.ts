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
    /** The member of a shared target, if not the payer. */
    on_behalf_of: p.uuid().nullable(),
    target_account_id: p.uuid(),
    payment_id: p.integer(),
    /** Copied from its channel when it was opened; the database sets it. */
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
    /** When its payer cancelled it. */
    cancelled_at: p.datetime().nullable(),
    request_id: p.text().nullable(),
    created_at: p.datetime(),
    updated_at: p.datetime(),
    finalized_at: p.datetime().nullable(),
    /** The last request for the instrument that the provider may have received. */
    instrument_asked_at: p.datetime().nullable(),
    /** Since when the provider reports it paid or pending without a payment we can settle; kept once final. */
    settling_since: p.datetime().nullable(),
  },
});

/** A payment by gateway. Its id is the provider's reference and idempotency key. */
export class PaymentOrder extends PaymentOrderSchema.class {}
PaymentOrderSchema.setClass(PaymentOrder);
