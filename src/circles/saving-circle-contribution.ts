import type { PaymentHandler } from '../money-in/payments/handler.ts';
import { getPayableCircle } from './find-payable-circle.ts';
import {
  closeContribution,
  holdOrdered,
  holdPlace,
  recordContribution,
  settleContribution,
} from './record-contribution.ts';

/**
 * A member's contribution to the open round of a saving circle, on both rails; one for each member and turn. A member's
 * first contribution also pays the guarantee, where the circle's terms require one.
 */
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
      // The order being opened already has the total as its amount.
      inAll: lock === true,
      isOrder: rail === 'gateway',
    });
    return { accountId: circle.holdingAccountId, amount: circle.total, payableUntil: circle.ordersEndAt };
  },
  holdPending: holdPlace,
  onPending: (tx, payment) => recordContribution(tx, payment, null),
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
  wake: (workflows, { referenceId }) => workflows.wakeSavingCircle(referenceId, 'contributionCompleted'),
} satisfies PaymentHandler;
