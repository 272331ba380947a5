/** Saving goal states and where each may go (decisions 3); a raised target makes a reached goal active again. */
export const savingGoalTransitions = {
  active: ['completed'],
  completed: ['active'],
} as const satisfies Record<string, readonly string[]>;
export type SavingGoalStatus = keyof typeof savingGoalTransitions;
export const savingGoalStatuses = Object.keys(savingGoalTransitions) as SavingGoalStatus[];
