import type { Caller } from '../shared/caller.ts';
import type { Transaction } from './transaction.entity.ts';

/** Whether an individual only received the money: then the payer is not shown. */
const isReceived = ({ userId, userType }: Pick<Caller, 'userId' | 'userType'>, { user_id }: Transaction): boolean =>
  userType === 'individual' && user_id !== userId;

/** A ledger row as the API shows it to the caller (docs/contract.md 2). */
export const presentTransaction = (caller: Pick<Caller, 'userId' | 'userType'>, row: Transaction) => ({
  id: row.id,
  user_id: isReceived(caller, row) ? null : row.user_id,
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
  created_by: isReceived(caller, row) ? null : (row.created_by ?? null),
  updated_by: row.updated_by ?? null,
  deleted_by: row.deleted_by ?? null,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});
