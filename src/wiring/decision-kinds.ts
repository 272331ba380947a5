import { erasingPerson } from '../control/erasure/erasing-person.ts';
import { bookingExternal } from '../control/reconciliation/booking-external.ts';
import { explainingDifference } from '../control/reconciliation/explaining-difference.ts';
import { disbursing } from '../giving/disbursements/disbursing.ts';
import { refundingDonation } from '../giving/donations/refunding-donation.ts';
import { settlingReceipt } from '../money-in/payments/settle-receipt.ts';
import { admittingApprover } from '../money-out/decisions/admitting-approver.ts';
import type { DecisionKinds } from '../money-out/decisions/handling.ts';
import { bookingTransfer } from '../money-out/payouts/booking-transfer.ts';
import { settlingPayout } from '../money-out/payouts/settling-payout.ts';
import { payoutKinds } from './payout-kinds.ts';

/** How each kind of decision is judged and carried out. */
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
