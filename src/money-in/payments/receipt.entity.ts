import { defineEntity, p } from '@mikro-orm/core';
import type { ReceiptReason, ReceiptState } from './receipt.ts';

const ReceiptSchema = defineEntity({
  name: 'Receipt',
  tableName: 'receipts',
  properties: {
    id: p.uuid().primary(),
    provider: p.text(),
    provider_payment_id: p.text(),
    provider_payment_method_id: p.text(),
    reference: p.text(),
    amount: p.decimal().precision(20).scale(4),
    state: p.text().$type<ReceiptState>(),
    reason: p.text().$type<ReceiptReason>().nullable(),
    order_id: p.uuid().nullable(),
    partner_payment_id: p.uuid().nullable(),
    account_id: p.uuid().nullable(),
    settled_by: p.uuid().nullable(),
    note: p.string().length(300).nullable(),
    received_at: p.datetime(),
    settled_at: p.datetime().nullable(),
  },
});

/** A payment that the provider confirmed: applied, or in suspense until a decision about it is carried out. */
export class Receipt extends ReceiptSchema.class {}
ReceiptSchema.setClass(Receipt);
