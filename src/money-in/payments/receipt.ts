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

/** Why money could not be applied to what it came for. */
export const receiptReasons = ['late', 'double', 'wrong_amount', 'unknown'] as const;
export type ReceiptReason = (typeof receiptReasons)[number];

/** Ends a receipt's workflow: a decision made by two people (`decisions/`). */
export interface ReceiptSettlement {
  decision_id: string;
}

/**
 * Whether a receipt's workflow that has ended may run again: always. One that ended unconfirmed, or whose history was
 * lost, looks again at the next hint, so that its money is not missed; one whose receipt is settled reads it and ends
 * at once, without effect, because the receipt is unique in the database.
 */
export const receiptReusePolicy = 'ALLOW_DUPLICATE';
