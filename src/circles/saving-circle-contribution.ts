import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { accountsOfSettlement } from '../ledger/accounts/account.ts';
import { holdBalances } from '../ledger/lock-order.ts';
import type { HandledPayment, PaymentHandler } from '../money-in/payments/handler.ts';
import { readDatabaseClock } from '../platform/database/database-clock.ts';
import { recordEvent, recordEvents } from '../platform/events/record-event.ts';
import { must } from '../shared/assert.ts';
import { withFieldNames } from '../shared/errors.ts';
import { journalKeys, newId } from '../shared/ids.ts';
import { addMoney } from '../shared/money.ts';
import { canMove } from '../shared/status-law.ts';
import { shareCircle } from './change-circle.ts';
import { CircleContribution } from './circle-contribution.entity.ts';
import { CircleRound } from './circle-round.entity.ts';
import { cancelPendingContribution } from './end-orders.ts';
import { getPayableCircle, refuseRepeat } from './find-payable-circle.ts';
import { payOutOfCircle } from './pay-out-of-circle.ts';
import type { SavingCircle } from './saving-circle.entity.ts';
import { type ContributionStatus, contributionLaw } from './saving-circle.ts';

/** A contribution to a circle's open round, one per member and turn; the first also pays the guarantee, if required. */
export const savingCircleContribution = {
  referenceType: 'saving_circle_contribution' as const,
  referenceOf: 'the saving circle',
  permission: 'update-saving-circle',
  rails: ['gateway', 'balance'],
  ledgerReferenceType: 'saving_circle',
  gatewayPurpose: 'topup_product',
  async findTarget(em, { referenceId, amount, rail, caller, onBehalfOf, lock }) {
    const { userId } = caller;
    const circle = await getPayableCircle(em, {
      circleId: referenceId,
      userId,
      onBehalfOf,
      amount,
      // The order being opened already includes the guarantee in its amount.
      inAll: lock === true,
      isOrder: rail === 'gateway',
    });
    return { accountId: circle.holdingAccountId, amount: circle.total, payableUntil: circle.ordersEndAt };
  },
  async onPending(tx, payment) {
    await holdPlace(tx, payment);
    await recordContribution(tx, payment, null);
  },
  effect: {
    hold: (tx, payment) =>
      payment.orderId === null ? holdPlace(tx, payment) : holdOrdered(tx, payment.referenceId, payment.orderId),
    inTransaction: (tx, payment, transactionId) =>
      payment.orderId === null
        ? recordContribution(tx, payment, transactionId)
        : settleContribution(tx, { circleId: payment.referenceId, orderId: payment.orderId, transactionId }),
  },
  onClosed: (tx, { orderId }, outcome) =>
    orderId === null ? Promise.resolve() : closeContribution(tx, orderId, outcome),
  wake: (workflows, { referenceId }) => workflows.wakeSavingCircle(referenceId),
} satisfies PaymentHandler;

/** Locks the rows of a balance payment or an order: the circle (shared) and the contributions it supersedes. */
async function holdPlace(
  tx: EntityManager,
  { referenceId: circleId, userId, onBehalfOf }: HandledPayment,
): Promise<void> {
  const { current_turn } = await withFieldNames({ id: 'reference_id' }, () => shareCircle(tx, circleId));
  await tx.execute(
    `select from saving_circle_contributions c
     where c.saving_circle_id = ? and c.turn_number = ? and c.status = 'pending'
       and c.member_id in (select m.id from saving_circle_members m
         where m.saving_circle_id = ? and case when ?::uuid is null then m.user_id = ? else m.id = ? end)
     for update of c`,
    [circleId, current_turn, circleId, onBehalfOf, userId, onBehalfOf],
  );
}

/**
 * Locks the rows that settling an order changes: its circle (shared), its contribution, and the balances of a refund.
 */
async function holdOrdered(tx: EntityManager, circleId: string, orderId: string): Promise<void> {
  const { circle, contribution, isLate } = await lockOrdered(tx, circleId, orderId);
  if (!isLate) return;
  // A second journal refunds a late contribution at once.
  const holding = circle.holding_account_id;
  const credited = [...accountsOfSettlement, holding, contribution.refund_account_id];
  await holdBalances(tx, { debited: [holding], credited });
}

/**
 * Records a contribution and its event: `completed` by `transactionId` from a balance, or `pending` with an order.
 * `amount` includes a guarantee due. Throws as `getPayableCircle` does, also for a concurrent repeat: the database
 * allows one pending or completed row per member and turn, and one with the guarantee per member.
 */
async function recordContribution(
  tx: EntityManager,
  { referenceId: circleId, userId, onBehalfOf, amount, orderId, sourceAccountId, requestId }: HandledPayment,
  transactionId: string | null,
): Promise<void> {
  await shareCircle(tx, circleId);
  const payable = await getPayableCircle(tx, { circleId, userId, onBehalfOf, amount, inAll: true });
  const { turn, memberId, contribution, guarantee } = payable;
  if (payable.isOwn) await cancelPendingContribution(tx, { circleId, turn, memberId, paidBy: userId });
  const id = newId();
  const made = {
    saving_circle_id: circleId,
    member_id: memberId,
    turn_number: turn,
    amount: contribution,
    guarantee_amount: guarantee,
    rail: orderId === null ? 'balance' : 'gateway',
    status: transactionId === null ? 'pending' : 'completed',
    payment_order_id: orderId,
  } as const;
  const refund_account_id = sourceAccountId ?? payable.payerAccountId;
  const row = { ...made, id, user_id: userId, refund_account_id, transaction_id: transactionId };
  const columns = Object.keys(row);
  const rows = await tx.execute<unknown[]>(
    `insert into saving_circle_contributions (${columns}) values (${columns.map(() => '?')})
     on conflict do nothing returning 1`,
    Object.values(row),
  );
  if (rows.length === 0) refuseRepeat('pending or completed');
  await recordEvent(tx, {
    event: 'CONTRIBUTION_MADE',
    resourceType: 'saving_circle_contribution',
    resourceId: id,
    actorId: userId,
    requestId,
    data: made,
  });
}

/** Completes a paid contribution, or refunds it at once if it was cancelled or its circle or turn is over. */
async function settleContribution(
  tx: EntityManager,
  settled: { circleId: string; orderId: string; transactionId: string },
): Promise<void> {
  const { circle, contribution, isLate } = await lockOrdered(tx, settled.circleId, settled.orderId);
  contribution.transaction_id = settled.transactionId;
  if (isLate) return refundContributions(tx, circle, [contribution]);
  await changeStatus(tx, contribution, 'completed');
}

/**
 * Closes the contribution of an unpaid order: `failed` if it was declined, `cancelled` if it expired (docs/contract.md
 * 6).
 */
async function closeContribution(tx: EntityManager, orderId: string, outcome: 'FAILED' | 'EXPIRED') {
  const contribution = await lockContributionOf(tx, orderId);
  const status: ContributionStatus = outcome === 'FAILED' ? 'failed' : 'cancelled';
  if (canMove(contributionLaw, contribution.status, status)) await changeStatus(tx, contribution, status);
}

const lockContributionOf = (tx: EntityManager, orderId: string): Promise<CircleContribution> =>
  tx.findOneOrFail(
    CircleContribution,
    { payment_order_id: orderId },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );

async function lockOrdered(tx: EntityManager, circleId: string, orderId: string) {
  const circle = await shareCircle(tx, circleId);
  const contribution = await lockContributionOf(tx, orderId);
  const turn = { saving_circle_id: circleId, turn_number: contribution.turn_number };
  const round = await tx.findOneOrFail(CircleRound, turn, { refresh: true });
  const isLate = contribution.status !== 'pending' || circle.status !== 'active' || Boolean(round.paid_at);
  return { circle, contribution, isLate };
}

async function changeStatus(tx: EntityManager, contribution: CircleContribution, status: ContributionStatus) {
  Object.assign(contribution, { status, updated_at: await readDatabaseClock(tx) });
  await tx.flush();
  await recordEvent(tx, changeOf(contribution));
}

const changeOf = ({ id, saving_circle_id, turn_number, status }: CircleContribution, data: object = {}) => ({
  event: 'RESOURCE_UPDATED' as const,
  resourceType: 'saving_circle_contribution',
  resourceId: id,
  actorId: null,
  requestId: null,
  data: { saving_circle_id, turn_number, status, ...data },
});

/**
 * Refunds contributions to the accounts that paid, once, through `payOutOfCircle`. The circle keeps the guarantee of a
 * completed contribution until its settlement; late money is refunded in full.
 */
export async function refundContributions(
  tx: EntityManager,
  circle: SavingCircle,
  contributions: readonly CircleContribution[],
): Promise<void> {
  if (contributions.length === 0) return;
  const refunds = contributions.map((contribution) => {
    const { status, amount, guarantee_amount } = contribution;
    return { contribution, amount: addMoney(amount, status === 'completed' ? '0' : guarantee_amount) };
  });
  const journalIds = await payOutOfCircle(tx, circle, {
    kind: 'saving-circle.contribution-refunded',
    status: 'reversed',
    payouts: refunds.map(({ contribution: { id, user_id, refund_account_id }, amount }) => ({
      businessKey: journalKeys.contributionRefunded(id),
      shares: [{ user_id, account_id: refund_account_id, amount }],
    })),
  });
  const now = await readDatabaseClock(tx);
  const events = refunds.map(({ contribution, amount }, index) => {
    const journal_id = must(journalIds[index], 'every refund has a journal');
    const refunded = { refund_journal_id: journal_id, refunded_amount: amount, updated_at: now };
    return changeOf(Object.assign(contribution, { status: 'refunded' as const, ...refunded }), { journal_id });
  });
  await tx.flush();
  await recordEvents(tx, events);
}
