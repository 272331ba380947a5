import { type StatusOf, statusLaw } from '../../shared/status-law.ts';

/** Donation types, status transitions and refund period (docs/contract.md 5 and 12). */
export const donationTypes = ['specific', 'open', 'subscription'] as const;
export type DonationType = (typeof donationTypes)[number];

/** A gateway donation starts as `pending`; a donation from a balance starts as `completed`. */
export const donationLaw = statusLaw({
  initial: ['pending', 'completed'],
  transitions: {
    pending: ['completed', 'failed'],
    completed: ['refunded'],
    failed: [],
    refunded: [],
  },
});
export type DonationStatus = StatusOf<typeof donationLaw>;

/** How many days after payment a donation can be refunded. */
export const refundDays = 7;
