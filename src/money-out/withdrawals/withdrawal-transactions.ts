import type { TransactionRow } from '../../ledger/post-journal.ts';
import { compareMoney } from '../../shared/money.ts';
import type { WholeWithdrawal } from './find-withdrawals.ts';

/**
 * The transaction rows of a withdrawal: a reservation debits net and fee; a failed withdrawal returns both; a withdrawal
 * that the bank returns gives back only the net.
 */
export function transactionsOf(
  { withdrawal, payout }: WholeWithdrawal,
  what: 'reserved' | 'failed' | 'reversed',
): TransactionRow[] {
  const row = {
    userId: withdrawal.user_id,
    organizationId: withdrawal.organization_id ?? null,
    status: what === 'reserved' ? ('successful' as const) : ('reversed' as const),
    sourceAccountId: payout.source_account_id,
    destinationAccountId: null,
    referenceType: 'account_top_up' as const,
    referenceId: payout.id,
    purpose: 'external_withdrawal' as const,
    paymentOrderId: null,
    createdBy: what === 'reserved' ? withdrawal.user_id : null,
  };
  const price = { ...row, type: 'price' as const, amount: payout.net_amount };
  return [
    what === 'reserved' ? { ...price, id: withdrawal.transaction_id } : price,
    ...(what === 'reversed' || compareMoney(payout.fee, '0') === 0
      ? []
      : [{ ...row, type: 'fee' as const, amount: payout.fee }]),
  ];
}
