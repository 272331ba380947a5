import { accountsOfSettlement } from '../../ledger/accounts/account.ts';
import { holdBalances } from '../../ledger/lock-order.ts';
import { readTarget } from '../../money-in/payments/balance-payment.ts';
import type { PaymentHandler, PaymentIntent, SqlCall } from '../../money-in/payments/handler.ts';
import { executePrepared } from '../../platform/database/prepared-statements.ts';
import type { Payer } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { isUniqueViolation } from '../../shared/postgres.ts';

type Asked = Pick<PaymentIntent, 'referenceId' | 'amount'> & { payer: Payer };
const targetsOf = (payments: readonly Asked[], isHeld: boolean): SqlCall => ({
  call: 'targets_of_saving_goals(?::uuid[], ?::uuid[], ?::numeric[], ?)',
  params: [
    payments.map(({ payer }) => payer.userId),
    payments.map(({ referenceId }) => referenceId),
    payments.map(({ amount }) => amount),
    isHeld,
  ],
});

const refuseRepeat = (): never =>
  refuse('DUPLICATE', 'the saving goal already has an open payment order', { field: 'reference_id' });

/** A contribution to a saving goal of the caller, on both rails; a goal has at most one open order. */
export const savingGoalContribution = {
  referenceType: 'saving_goal_contribution' as const,
  referenceOf: 'the saving goal',
  permission: 'contribute-saving-goal',
  rails: ['gateway', 'balance'],
  ledgerReferenceType: 'saving_goal',
  gatewayPurpose: 'topup_product',
  async findTarget(em, { referenceId, amount, rail, caller }) {
    const target = await readTarget(em, targetsOf([{ referenceId, amount, payer: caller }], false));
    const open = "select from saving_goal_orders where saving_goal_id = ? and status = 'pending'";
    if (rail === 'gateway' && (await executePrepared(em, open, [referenceId])).length > 0) refuseRepeat();
    return target;
  },
  async onPending(tx, { orderId, referenceId }) {
    try {
      await tx.execute(
        "insert into saving_goal_orders (payment_order_id, saving_goal_id, status) values (?, ?, 'pending')",
        [orderId, referenceId],
      );
    } catch (error) {
      if (isUniqueViolation(error)) refuseRepeat();
      throw error;
    }
  },
  effect: {
    async hold(tx, { orderId, referenceId }) {
      const [goal] = await tx.execute<{ account_id: string; released_to: string | null }[]>(
        'select account_id, released_to from saving_goals where id = ? for no key update',
        [referenceId],
      );
      // A second journal moves a payment for a closed goal on to the account chosen at its release.
      if (orderId === null || !goal?.released_to) return;
      const { account_id: account, released_to: released } = goal;
      await holdBalances(tx, { debited: [account], credited: [...accountsOfSettlement, account, released] });
    },
    inTransaction: (tx, { orderId, referenceId }) =>
      tx.execute('select settle_saving_goal(?, ?)', [referenceId, orderId]),
  },
  together: {
    targets: (payments) => targetsOf(payments, true),
    effect: (paid) => `settle_saving_goals(${paid})`,
  },
  async onClosed(tx, { orderId }, outcome) {
    await tx.execute('update saving_goal_orders set status = ?, updated_at = now() where payment_order_id = ?', [
      outcome === 'FAILED' ? 'failed' : 'cancelled',
      orderId,
    ]);
  },
} satisfies PaymentHandler;
