import { recordTransactions } from '../../ledger/post-journal.ts';
import type { PayoutHandling } from '../payouts/handling.ts';
import { isReturnUnbooked } from '../payouts/payout.ts';
import { readDecision } from '../payouts/undecided.ts';
import { tellDisbursement } from './tell-disbursement.ts';
import { Withdrawal } from './withdrawal.entity.ts';
import type { CausePort } from './withdrawal.ts';
import { transactionsOf } from './withdrawal-transactions.ts';

/**
 * A withdrawal: records money returned to the account among its transactions. A disbursement's success may complete its
 * cause, and its return by the bank undoes that.
 */
export const payingOwner = (causes: CausePort): PayoutHandling => ({
  heldBy: readDecision,
  tell: tellDisbursement,
  async moved(tx, _, payout, { journalId }) {
    const { status } = payout;
    const withdrawal = await tx.findOneOrFail(Withdrawal, { id: payout.id });
    if (status === 'failed' || status === 'reversed') {
      await recordTransactions(tx, journalId, transactionsOf({ withdrawal, payout }, status));
    }
    // If the bank has already returned it, the cause still has the money, and this transaction continues with the
    // return.
    if (withdrawal.cause_id && status === 'succeeded' && !isReturnUnbooked(payout)) {
      const by = { actorId: withdrawal.user_id, requestId: payout.request_id ?? null };
      await causes.completeClosedCause(tx, withdrawal.cause_id, by);
    }
    if (withdrawal.cause_id && status === 'reversed') await causes.receiveLateMoney(tx, withdrawal.cause_id);
    return [];
  },
});
