import { defineEntity, p } from '@mikro-orm/core';
import type { LedgerReferenceType, TransactionPurpose, TransactionStatus, TransactionType } from './transaction.ts';

const TransactionSchema = defineEntity({
  name: 'Transaction',
  tableName: 'transactions',
  properties: {
    id: p.uuid().primary(),
    user_id: p.uuid(),
    organization_id: p.uuid().nullable(),
    amount: p.decimal().precision(20).scale(4),
    status: p.text().$type<TransactionStatus>(),
    date: p.datetime(),
    source_account_id: p.uuid(),
    destination_account_id: p.uuid().nullable(),
    type: p.text().$type<TransactionType>(),
    reference_type: p.text().$type<LedgerReferenceType>(),
    reference_id: p.uuid(),
    batch_id: p.uuid(),
    purpose: p.text().$type<TransactionPurpose>(),
    payment_order_id: p.uuid().nullable(),
    created_by: p.uuid().nullable(),
    updated_by: p.uuid().nullable(),
    deleted_by: p.uuid().nullable(),
    created_at: p.datetime(),
    updated_at: p.datetime(),
  },
});

/** A ledger row as the API shows it. It belongs to a journal (`batch_id`) and never changes. */
export class Transaction extends TransactionSchema.class {}
TransactionSchema.setClass(Transaction);
