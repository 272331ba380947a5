import { admittingApprover } from './admitting-approver.ts';
import { bookingExternal } from './booking-external.ts';
import { bookingTransfer } from './booking-transfer.ts';
import type { DecisionKind, ProposedKind } from './decision.ts';
import { disbursing } from './disbursing.ts';
import { erasingPerson } from './erasing-person.ts';
import { explainingDifference } from './explaining-difference.ts';
import type { CarryingOut, DecisionHandling } from './handling.ts';
import { refundingDonation } from './refunding-donation.ts';
import { settlingPayout } from './settling-payout.ts';
import { settlingReceipt } from './settling-receipt.ts';

/** The kinds that operators propose; a kind without its handling does not compile. */
export const proposable: { [Kind in ProposedKind]: DecisionHandling<Kind> } = {
  settle_payout: settlingPayout,
  settle_receipt: settlingReceipt,
  explain_difference: explainingDifference,
  book_external: bookingExternal,
  refund_donation: refundingDonation,
  erase_person: erasingPerson,
  book_transfer: bookingTransfer,
  admit_approver: admittingApprover,
};

/** How every kind is carried out. */
export const handlings: Record<DecisionKind, CarryingOut> = { ...proposable, disburse: disbursing };
