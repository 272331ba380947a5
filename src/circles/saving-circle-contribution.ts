import type { PaymentHandler } from '../money-in/payments/handler.ts';
import { getPayableCircle } from './find-payable-circle.ts';
import { holdContribution } from './hold-contribution.ts';
import { recordContribution } from './record-contribution.ts';
import { closeContribution, settleContribution } from './settle-contribution.ts';

/**
 * A member's contribution to the open round of a saving circle, on both rails; one for each member and turn. A member's
 * first contribution also pays the guarantee, where the circle's terms require one.
 */
export const savingCircleContribution = {
  referenceType: 'saving_circle_contribution' as const,
  permission: 'update-saving-circle',
  rails: ['gateway', 'balance'],
  ledgerReferenceType: 'saving_circle',
  gatewayPurpose: 'topup_product',
  inTurn: true,
  async findTarget(em, { referenceId, amount, rail, caller, onBehalfOf, lock }) {
    const { userId } = caller;
    const circle = await getPayableCircle(em, {
      circleId: referenceId,
      userId,
      onBehalfOf,
      amount,
      // The order being opened already has the total as its amount.
      inAll: lock === true,
      isOrder: rail === 'gateway',
    });
    return { accountId: circle.holdingAccountId, amount: circle.total, payableUntil: circle.ordersEndAt };
  },
  // Whatever has become of the order, what gives way to it is locked as on the other rail.
  holdPending: (tx, payment) => holdContribution(tx, { ...payment, orderId: null }),
  async onPending(tx, { orderId, referenceId, userId, onBehalfOf, amount, requestId }) {
    const circleId = referenceId;
    await recordContribution(tx, { circleId, userId, onBehalfOf, amount, orderId, requestId, paid: null });
  },
  effect: {
    hold: holdContribution,
    async inTransaction(tx, payment, { transactionId }) {
      const { orderId, referenceId, userId, onBehalfOf, amount, sourceAccountId, requestId } = payment;
      if (orderId !== null) return settleContribution(tx, { circleId: referenceId, orderId, transactionId });
      const paid = sourceAccountId === null ? null : { transactionId, sourceAccountId };
      const circleId = referenceId;
      await recordContribution(tx, { circleId, userId, onBehalfOf, amount, orderId, requestId, paid });
    },
  },
  onClosed: (tx, { orderId }, outcome) =>
    orderId === null ? Promise.resolve() : closeContribution(tx, orderId, outcome),
  wake: (workflows, { referenceId }) => workflows.wakeSavingCircle(referenceId, 'contributionCompleted'),
} satisfies PaymentHandler;
