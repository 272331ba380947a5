import type { PaymentHandler } from '../../money-in/payments/handler.ts';
import { receiveLateMoney } from '../causes/cause-of-disbursement.ts';
import { getCauseForDonation } from '../causes/find-cause.ts';
import { closeDonation, completeDonation, holdDonation, openDonation } from './donation-effects.ts';

/** A donation to a cause that accepts donations, credited to the cause's account, on both rails. */
export const charitableCauseDonate = {
  referenceType: 'charitable_cause_donate' as const,
  referenceOf: 'the charitable cause',
  permission: 'donate-charitable-cause',
  rails: ['gateway', 'balance'],
  ledgerReferenceType: 'donation',
  gatewayPurpose: 'topup_product',
  async findTarget(em, { referenceId, lock = false }) {
    return getCauseForDonation(em, referenceId, { lock });
  },
  onPending: (tx, payment) => openDonation(tx, payment, { type: 'specific', causeId: payment.referenceId }),
  effect: {
    hold: holdDonation,
    async inTransaction(tx, payment, transactionId) {
      await completeDonation(tx, payment, transactionId, { type: 'specific', causeId: payment.referenceId });
      // The cause may have been closed since the order was opened.
      if (payment.orderId !== null) await receiveLateMoney(tx, payment.referenceId);
    },
  },
  together: {
    targets: (payments) => ({
      call: 'targets_of_causes(?::uuid[])',
      params: [payments.map(({ referenceId }) => referenceId)],
    }),
    effect: (paid) => `settle_donations('specific', ${paid})`,
  },
  onClosed: (tx, payment) => closeDonation(tx, payment),
} satisfies PaymentHandler;
