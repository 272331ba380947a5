import { type StatusOf, statusLaw } from '../shared/status-law.ts';

/** Facts of saving circles (docs/contract.md 6). */
export const circleLaw = statusLaw({
  initial: ['new'],
  transitions: {
    new: ['active', 'cancelled'],
    active: ['completed', 'cancelled'],
    cancelled: [],
    completed: [],
  },
});
export type CircleStatus = StatusOf<typeof circleLaw>;

export const circleVisibilities = ['private', 'public', 'organization'] as const;
export type CircleVisibility = (typeof circleVisibilities)[number];

export const roundIntervals = ['daily', 'weekly', 'monthly'] as const;
export type RoundInterval = (typeof roundIntervals)[number];

export const turnOrders = ['joining', 'lottery'] as const;
export type TurnOrder = (typeof turnOrders)[number];

export type CircleOwnerType = 'individual' | 'organization';

/** The capacity of a circle when the request gives none. */
export const defaultCapacity = 100;
/** The largest place or turn number: the database's integer range, not a rule of circles. */
export const largestPlace = 2_147_483_647;
/** How many members one request may add at most. */
export const addedAtOnce = 1000;

/** A circle needs this many members at its start date, otherwise it is cancelled. */
export const minimumMembers = 2;

/** A balance contribution starts as `completed`. Money that arrives after the end of its circle or turn is refunded. */
export const contributionLaw = statusLaw({
  initial: ['pending', 'completed'],
  transitions: {
    pending: ['completed', 'failed', 'cancelled', 'refunded'],
    completed: ['refunded'],
    failed: [],
    cancelled: ['refunded'],
    refunded: [],
  },
});
export type ContributionStatus = StatusOf<typeof contributionLaw>;

/** The statuses of a proposal to replace a member. */
export const replacementLaw = statusLaw({
  initial: ['pending'],
  transitions: { pending: ['completed', 'withdrawn'], completed: [], withdrawn: [] },
});
export type ReplacementStatus = StatusOf<typeof replacementLaw>;
