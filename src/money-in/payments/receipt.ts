import { type StatusOf, statusLaw } from '../../shared/status-law.ts';

/**
 * The states of confirmed money: applied to its order or partner payment, or suspended and then credited or refunded by
 * a decision.
 */
export const receiptLaw = statusLaw({
  initial: ['applied', 'suspended'],
  transitions: {
    applied: [],
    suspended: ['applied', 'credited', 'refunded'],
    credited: [],
    refunded: [],
  },
});
export type ReceiptState = StatusOf<typeof receiptLaw>;

/** Why money could not be applied to its order or payment. */
export const receiptReasons = ['late', 'double', 'wrong_amount', 'unknown'] as const;
export type ReceiptReason = (typeof receiptReasons)[number];

/** The update that settles a receipt, by a decision of two people (`decisions/`). */
export interface ReceiptSettlement {
  decision_id: string;
}

/**
 * Whether a closed workflow of a receipt may run again: always. One that completed unconfirmed, or whose history was
 * lost, checks again on the next hint, so that its money is not missed; one whose receipt is settled reads it and
 * completes at once, without effect, because the receipt is unique in the database.
 */
export const receiptReusePolicy = 'ALLOW_DUPLICATE';
