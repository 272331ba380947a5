import { type StatusOf, statusLaw } from '../../shared/status-law.ts';

/** Pure facts about donations (docs/contract.md 5). */
export const donationTypes = ['specific', 'open', 'subscription'] as const;
export type DonationType = (typeof donationTypes)[number];

/** A donation by gateway starts `pending`, one from a balance `completed`. */
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

/** For how many days after its payment a donation can be refunded. */
export const refundDays = 7;
