import { defineEntity, p } from '@mikro-orm/core';

const PaymentRefundSchema = defineEntity({
  name: 'PaymentRefund',
  tableName: 'payment_refunds',
  properties: {
    /** The payout's id. */
    id: p.uuid().primary(),
    payment_id: p.uuid(),
    created_at: p.datetime(),
  },
});

/** What a refund adds to its payout: the payment that it gives back, or a part of it. */
export class PaymentRefund extends PaymentRefundSchema.class {}
PaymentRefundSchema.setClass(PaymentRefund);
