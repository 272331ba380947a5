import { defineEntity, p } from '@mikro-orm/core';
import type { DonationStatus, DonationType } from './donation.ts';

const DonationSchema = defineEntity({
  name: 'Donation',
  tableName: 'donations',
  properties: {
    id: p.uuid().primary(),
    user_id: p.uuid(),
    type: p.text().$type<DonationType>(),
    amount: p.decimal().precision(20).scale(4),
    status: p.text().$type<DonationStatus>(),
    cause_id: p.uuid().nullable(),
    allocation_batch_id: p.uuid().nullable(),
    transaction_id: p.uuid().nullable(),
    payment_order_id: p.uuid().nullable(),
    subscription_id: p.uuid().nullable(),
    period: p.integer().nullable(),
    /** The transaction that refunded it. */
    refund_transaction_id: p.uuid().nullable(),
    created_at: p.datetime(),
    updated_at: p.datetime(),
  },
});

/** A person's donation. Its type never changes; allocation assigns a cause to an open donation, once. */
export class Donation extends DonationSchema.class {}
DonationSchema.setClass(Donation);
