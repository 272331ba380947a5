import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { refuseUnlessOwn } from './find-saving-goals.ts';
import { SavingGoal } from './saving-goal.entity.ts';

/**
 * Locks the caller's own saving goal until the transaction ends and reads it afresh. Throws NOT_FOUND if it is missing,
 * FORBIDDEN if it is someone else's; the use case checks whether it is closed.
 */
export async function lockOwnGoal(tx: EntityManager, caller: Caller, id: string): Promise<SavingGoal> {
  const goal = await tx.findOne(SavingGoal, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (goal === null) refuse('NOT_FOUND', 'the saving goal was not found', { field: 'saving_goal_id' });
  refuseUnlessOwn(caller, goal);
  return goal;
}

/** Throws REQUEST_INVALID if the goal was released. */
export function refuseIfClosed(goal: SavingGoal): void {
  if (goal.closed_at) refuse('REQUEST_INVALID', 'the saving goal is closed', { field: 'saving_goal_id' });
}
