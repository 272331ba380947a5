import { type StatusOf, statusLaw } from '../../shared/status-law.ts';

/** Confirmed money: applied to its order or partner payment, or suspended, then credited or refunded by a decision. */
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

/** The update that settles a receipt, decided by two people (`decisions/`). */
export interface ReceiptSettlement {
  decision_id: string;
}

/**
 * A closed workflow may run again: one that completed unconfirmed or lost its history must not miss its money. If the
 * receipt, unique in the database, is already settled, the workflow completes without effect.
 */
export const receiptReusePolicy = 'ALLOW_DUPLICATE';
