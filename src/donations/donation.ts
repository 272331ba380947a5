/** Pure facts about donations (giving-circles-payments.md section 2, decisions 5). */
export const donationTypes = ['specific', 'open', 'subscription'] as const;
export type DonationType = (typeof donationTypes)[number];

/** Donation states and where each may go; the database refuses any other change. */
export const donationTransitions = {
  pending: ['completed', 'failed'],
  completed: ['refunded'],
  failed: [],
  refunded: [],
} as const satisfies Record<string, readonly string[]>;
export type DonationStatus = keyof typeof donationTransitions;
export const donationStatuses = Object.keys(donationTransitions) as [DonationStatus, ...DonationStatus[]];
