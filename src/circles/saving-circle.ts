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

/** The capacity of a circle that does not say. */
export const defaultCapacity = 100;
/** The largest number that a place or a turn can have: how the database counts, no rule about circles. */
export const largestPlace = 2_147_483_647;
/** How many members one request adds at most. */
export const addedAtOnce = 1000;

/** A circle needs this many members at its start date, otherwise it is cancelled. */
export const minimumMembers = 2;

/** A balance contribution begins `completed`. Money that comes after the end of its circle or turn is refunded. */
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

/** A proposal that somebody takes over a member's place. */
export const replacementLaw = statusLaw({
  initial: ['pending'],
  transitions: { pending: ['completed', 'withdrawn'], completed: [], withdrawn: [] },
});
export type ReplacementStatus = StatusOf<typeof replacementLaw>;
