import { completeClosedCause, receiveLateMoney, startCause } from '../giving/causes/cause-of-disbursement.ts';
import type { PayoutKinds } from '../money-out/payouts/handling.ts';
import { payingPartner } from '../money-out/payouts/paying-partner.ts';
import { refundingPayer } from '../money-out/refunds/refunding-payer.ts';
import { payingOwner } from '../money-out/withdrawals/paying-owner.ts';
import type { CausePort } from '../money-out/withdrawals/withdrawal.ts';

/** What withdrawals are handed of the causes. */
export const causes: CausePort = { startCause, completeClosedCause, receiveLateMoney };

/** The handling of each kind; a kind without one does not compile. */
export const payoutKinds: PayoutKinds = {
  partner_payout: payingPartner,
  withdrawal: payingOwner(causes),
  payment_refund: refundingPayer,
};
