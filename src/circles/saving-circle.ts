import { type StatusOf, statusLaw } from '../shared/status-law.ts';

/** Statuses and limits of saving circles (docs/contract.md 6). */
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

/** The default capacity of a circle. */
export const defaultCapacity = 100;
/** The largest place or turn number, set by the database's integer range. */
export const largestPlace = 2_147_483_647;
/** Maximum members that one request may add. */
export const addedAtOnce = 1000;

/** A circle with fewer members at its start date is cancelled. */
export const minimumMembers = 2;

/** A balance contribution starts as `completed`. Money that arrives after its circle or turn has ended is refunded. */
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
