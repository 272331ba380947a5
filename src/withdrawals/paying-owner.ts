import { recordTransactions } from '../ledger/post-journal.ts';
import type { PayoutHandling } from '../payouts/handling.ts';
import { Withdrawal } from './withdrawal.entity.ts';
import { transactionsOf } from './withdrawal-transactions.ts';

/** A withdrawal: what comes back to the account is told among its transactions. */
export const payingOwner: PayoutHandling = {
  resourceType: 'withdrawal',
  async moved(tx, _, payout, { journalId }) {
    const { status } = payout;
    if (status === 'failed' || status === 'reversed') {
      const withdrawal = await tx.findOneOrFail(Withdrawal, { id: payout.id });
      await recordTransactions(tx, journalId, transactionsOf({ withdrawal, payout }, status));
    }
    return [];
  },
};
