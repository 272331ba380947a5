import { executePrepared } from '../../database/prepared-statements.ts';
import { accountsOfSettlement } from '../../ledger/account.ts';
import { holdBalances } from '../../ledger/hold-balances.ts';
import type { SavingGoalStatus } from '../../saving-goals/saving-goal.ts';
import { refuse } from '../../shared/errors.ts';
import { addMoney, compareMoney, type Money } from '../../shared/money.ts';
import { isUniqueViolation } from '../../shared/postgres.ts';
import type { PaymentHandler } from '../handler.ts';

interface GoalRow {
  user_id: string;
  status: SavingGoalStatus;
  is_closed: boolean;
  account_id: string;
  target_amount: Money;
  held: Money;
  has_open_order: boolean;
}

const query = `select user_id, status, closed_at is not null as is_closed, account_id, target_amount::text, account_balance(account_id)::text as held,
    exists (select from saving_goal_orders o where o.saving_goal_id = g.id and o.status = 'pending') as has_open_order
  from saving_goals g where id = ?`;

const refuseRepeat = (): never =>
  refuse('DUPLICATE', 'the saving goal already has an open payment order', { field: 'reference_id' });

/** A contribution to a saving goal of the caller, on both rails; one open order for a goal at a time. */
export const savingGoalContribution = {
  referenceType: 'saving_goal_contribution' as const,
  permission: 'contribute-saving-goal',
  rails: ['gateway', 'balance'],
  ledgerReferenceType: 'saving_goal',
  gatewayPurpose: 'topup_product',
  inTurn: true,
  async findTarget(em, { referenceId, amount, rail, caller }) {
    const [goal] = await executePrepared<GoalRow>(em, query, [referenceId]);
    if (goal === undefined) refuse('NOT_FOUND', 'no such saving goal', { field: 'reference_id' });
    if (goal.user_id !== caller.userId) refuse('FORBIDDEN', 'the saving goal is not yours', { field: 'reference_id' });
    if (goal.is_closed) refuse('REQUEST_INVALID', 'the saving goal is closed', { field: 'reference_id' });
    if (goal.status !== 'active') refuse('REQUEST_INVALID', 'the saving goal is completed', { field: 'reference_id' });
    if (compareMoney(addMoney(goal.held, amount), goal.target_amount) > 0) {
      refuse('REQUEST_INVALID', 'it would exceed the target of the saving goal', { field: 'amount' });
    }
    if (rail === 'gateway' && goal.has_open_order) refuseRepeat();
    return { accountId: goal.account_id };
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
      // What is paid for a closed goal moves on, by a second journal.
      if (orderId === null || !goal?.released_to) return;
      const { account_id: account, released_to: released } = goal;
      await holdBalances(tx, { debited: [account], credited: [...accountsOfSettlement, account, released] });
    },
    sql: ({ orderId, referenceId }) => ({
      call: 'settle_saving_goal(?, ?, ?)',
      params: [referenceId, orderId, orderId === null],
    }),
  },
  together: {
    targets: (payments) => ({
      call: 'accounts_of_saving_goals(?::uuid[], ?::uuid[], ?::numeric[])',
      params: [
        payments.map(({ payer }) => payer.userId),
        payments.map(({ referenceId }) => referenceId),
        payments.map(({ amount }) => amount),
      ],
    }),
    effect: (paid) => `settle_saving_goals(${paid})`,
  },
  async onClosed(tx, { orderId }, outcome) {
    await tx.execute('update saving_goal_orders set status = ?, updated_at = now() where payment_order_id = ?', [
      outcome === 'FAILED' ? 'failed' : 'cancelled',
      orderId,
    ]);
  },
} satisfies PaymentHandler;
