import { bookingExternal } from './booking-external.ts';
import type { DecisionKind } from './decision.ts';
import { explainingDifference } from './explaining-difference.ts';
import type { DecisionHandling } from './handling.ts';
import { settlingPayout } from './settling-payout.ts';
import { settlingReceipt } from './settling-receipt.ts';

/** Every kind has its handling; a kind without one does not compile. */
export const handlings: { [Kind in DecisionKind]: DecisionHandling<Kind> } = {
  settle_payout: settlingPayout,
  settle_receipt: settlingReceipt,
  explain_difference: explainingDifference,
  book_external: bookingExternal,
};
