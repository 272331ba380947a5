import { isFinal, type StatusOf, statusLaw } from '../../shared/status-law.ts';

/** The kinds of payment targets; not the ledger's enum. */
export const referenceTypes = [
  'account_top_up',
  'charitable_cause_donate',
  'charitable_cause_open_donate',
  'saving_goal_contribution',
  'investment',
  'saving_circle_contribution',
  'commodity_financing_payment',
  'trusted_partner_investment',
  'takaful_insurance',
  'takaful_tabaru_contribution',
] as const;
export type ReferenceType = (typeof referenceTypes)[number];

/** Payment orders and partners' payments (docs/contract.md 3): FAILED if declined, EXPIRED if expired or cancelled. */
export const paymentOrderLaw = statusLaw({
  initial: ['PENDING'],
  transitions: {
    PENDING: ['WAITING_PAYMENT', 'PAID', 'FAILED', 'EXPIRED'],
    WAITING_PAYMENT: ['PAID', 'FAILED', 'EXPIRED'],
    PAID: [],
    FAILED: [],
    EXPIRED: [],
  },
});
export type PaymentOrderStatus = StatusOf<typeof paymentOrderLaw>;

/** `status_id`: the status's position, from 1. */
export const statusIdOf = (status: PaymentOrderStatus): number => paymentOrderLaw.statuses.indexOf(status) + 1;

export const isFinalOrder = (status: PaymentOrderStatus): boolean => isFinal(paymentOrderLaw, status);

/** The deadline of a payment: when it was cancelled, otherwise the end of its lifetime. */
export const deadlineOf = (payment: { expires_at: Date; cancelled_at?: Date | null }): Date =>
  payment.cancelled_at ?? payment.expires_at;

/** Default lifetime of an order's instrument (docs/contract.md 3). */
export const paymentOrderLifetimeHours = 24;
