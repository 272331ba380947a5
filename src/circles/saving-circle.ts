/** Facts of saving circles (giving-circles-payments.md sections 2 and 3, decisions 6). */
export const circleTransitions = {
  new: ['active', 'cancelled'],
  active: ['completed', 'cancelled'],
  cancelled: [],
  completed: [],
} as const satisfies Record<string, readonly string[]>;
export type CircleStatus = keyof typeof circleTransitions;
export const circleStatuses = Object.keys(circleTransitions) as CircleStatus[];

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

/** Contribution states and where each may go. Money that comes after the end of its circle or turn is refunded. */
export const contributionTransitions = {
  pending: ['completed', 'failed', 'cancelled', 'refunded'],
  completed: ['refunded'],
  failed: [],
  cancelled: ['refunded'],
  refunded: [],
} as const satisfies Record<string, readonly string[]>;
export type ContributionStatus = keyof typeof contributionTransitions;
export const contributionStatuses = Object.keys(contributionTransitions) as ContributionStatus[];
