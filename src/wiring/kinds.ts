import { savingCircleContribution } from '../circles/saving-circle-contribution.ts';
import { erasingPerson } from '../control/erasure/erasing-person.ts';
import { bookingExternal } from '../control/reconciliation/booking-external.ts';
import { explainingDifference } from '../control/reconciliation/explaining-difference.ts';
import { completeClosedCause, receiveLateMoney, startCause } from '../giving/causes/cause-of-disbursement.ts';
import { disbursing } from '../giving/disbursements/disbursing.ts';
import { charitableCauseDonate } from '../giving/donations/charitable-cause-donate.ts';
import { charitableCauseOpenDonate } from '../giving/donations/charitable-cause-open-donate.ts';
import { refundingDonation } from '../giving/donations/refunding-donation.ts';
import { productPayments } from '../giving/products/product-payments.ts';
import { savingGoalContribution } from '../giving/saving-goals/saving-goal-contribution.ts';
import { accountTopUp } from '../money-in/payments/account-top-up.ts';
import type { PaymentKinds } from '../money-in/payments/handler.ts';
import { settlingReceipt } from '../money-in/payments/settle-receipt.ts';
import { admittingApprover } from '../money-out/decisions/admitting-approver.ts';
import type { DecisionKinds } from '../money-out/decisions/handling.ts';
import { bookingTransfer } from '../money-out/payouts/booking-transfer.ts';
import type { PayoutKinds } from '../money-out/payouts/handling.ts';
import { payingPartner } from '../money-out/payouts/paying-partner.ts';
import { settlingPayout } from '../money-out/payouts/settling-payout.ts';
import { refundingPayer } from '../money-out/refunds/refunding-payer.ts';
import { payingOwner } from '../money-out/withdrawals/paying-owner.ts';
import type { CausePort } from '../money-out/withdrawals/withdrawal.ts';

/** The functions of causes that withdrawals use. */
export const causes: CausePort = { startCause, completeClosedCause, receiveLateMoney };

/** The handling of each kind; a kind without one does not compile. */
export const payoutKinds: PayoutKinds = {
  partner_payout: payingPartner,
  withdrawal: payingOwner(causes),
  payment_refund: refundingPayer,
};

/** The handler of each kind of payment. A reference type without one does not compile. */
export const paymentKinds = {
  account_top_up: accountTopUp,
  charitable_cause_donate: charitableCauseDonate,
  charitable_cause_open_donate: charitableCauseOpenDonate,
  saving_goal_contribution: savingGoalContribution,
  saving_circle_contribution: savingCircleContribution,
  ...productPayments,
} satisfies PaymentKinds;

/** How each kind of decision is checked and carried out. */
export const decisionKinds: DecisionKinds = {
  settle_payout: settlingPayout(payoutKinds),
  settle_receipt: settlingReceipt,
  explain_difference: explainingDifference,
  book_external: bookingExternal,
  refund_donation: refundingDonation,
  erase_person: erasingPerson,
  book_transfer: bookingTransfer,
  admit_approver: admittingApprover,
  disburse: disbursing,
};
