import { type StatusOf, statusLaw } from '../../shared/status-law.ts';

/** A goal is `completed` when its target is reached; raising the target makes it `active` again. */
export const savingGoalLaw = statusLaw({
  initial: ['active'],
  transitions: {
    active: ['completed'],
    completed: ['active'],
  },
});
export type SavingGoalStatus = StatusOf<typeof savingGoalLaw>;

/** The row of a gateway contribution becomes final with its order. */
export const savingGoalOrderLaw = statusLaw({
  initial: ['pending'],
  transitions: {
    pending: ['completed', 'failed', 'cancelled'],
    completed: [],
    failed: [],
    cancelled: [],
  },
});
