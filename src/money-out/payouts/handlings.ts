import { refundingPayer } from '../refunds/refunding-payer.ts';
import { payingOwner } from '../withdrawals/paying-owner.ts';
import type { PayoutHandling } from './handling.ts';
import { payingPartner } from './paying-partner.ts';
import type { PayoutKind } from './payout.ts';

/** The handling of each kind; a kind without one does not compile. */
export const handlings: Record<PayoutKind, PayoutHandling> = {
  partner_payout: payingPartner,
  withdrawal: payingOwner,
  payment_refund: refundingPayer,
};
