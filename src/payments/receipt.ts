import { type StatusOf, statusLaw } from '../shared/status-law.ts';

/** Where confirmed money may be: applied to its order, or suspended and then credited or refunded by an operator. */
export const receiptLaw = statusLaw({
  initial: ['applied', 'suspended'],
  transitions: {
    applied: [],
    suspended: ['credited', 'refunded'],
    credited: [],
    refunded: [],
  },
});
export type ReceiptState = StatusOf<typeof receiptLaw>;

/** Why money could not be applied to an order. */
export const receiptReasons = ['late', 'double', 'wrong_amount', 'unknown'] as const;
export type ReceiptReason = (typeof receiptReasons)[number];

/** What ends the case of a receipt: a decision that two people have made (`decisions/`). */
export interface ReceiptSettlement {
  decision_id: string;
}

/**
 * Whether the case of a receipt that has ended may be opened again: always. One that ended unconfirmed, or whose history
 * was lost, looks again at the next hint, so that its money cannot be missed; one that was settled reads its receipt and
 * ends at once, without effect, because the receipt is unique in the database.
 */
export const receiptReusePolicy = 'ALLOW_DUPLICATE';
