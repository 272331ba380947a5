import type { Transaction } from './transaction.entity.ts';

/** A ledger row as the API shows it (giving-circles-payments.md section 2). */
export const presentTransaction = (row: Transaction) => ({
  id: row.id,
  user_id: row.user_id,
  amount: row.amount,
  status: row.status,
  date: row.date.toISOString(),
  source_account_id: row.source_account_id,
  destination_account_id: row.destination_account_id ?? null,
  type: row.type,
  reference_type: row.reference_type,
  reference_id: row.reference_id,
  batch_id: row.batch_id,
  purpose: row.purpose,
  payment_order_id: row.payment_order_id ?? null,
  created_by: row.created_by ?? null,
  updated_by: row.updated_by ?? null,
  deleted_by: row.deleted_by ?? null,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});
