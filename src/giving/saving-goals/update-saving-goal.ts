import type { EntityManager } from '@mikro-orm/postgresql';
import { findBalances } from '../../ledger/find-accounts.ts';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { changesTo } from '../../shared/changes.ts';
import { compareMoney, type Money } from '../../shared/money.ts';
import { lockOwnGoal, refuseIfClosed } from './lock-own-goal.ts';

export interface SavingGoalChange {
  name?: string | undefined;
  /** IDR. */
  target_amount?: Money | undefined;
  /** `YYYY-MM-DD`; null removes it. */
  target_date?: string | null | undefined;
}

/**
 * Changes a saving goal of the caller under its lock. Target and balance decide whether it is `completed`. Throws
 * NOT_FOUND, FORBIDDEN, and REQUEST_INVALID for a closed goal.
 */
export function updateSavingGoal(
  em: EntityManager,
  caller: Caller,
  { id, change, requestId }: { id: string; change: SavingGoalChange; requestId: string },
): Promise<void> {
  return em.transactional(async (tx) => {
    const goal = await lockOwnGoal(tx, caller, id);
    refuseIfClosed(goal);
    const changes = changesTo<SavingGoalChange>(goal, change);
    if (Object.keys(changes).length === 0) return;
    Object.assign(goal, changes);
    const balanceOf = await findBalances(tx, [goal.account_id]);
    goal.status = compareMoney(balanceOf(goal.account_id), goal.target_amount) >= 0 ? 'completed' : 'active';
    goal.updated_at = await readDatabaseClock(tx);
    await recordAction(tx, { caller, requestId }, 'RESOURCE_UPDATED', ['saving_goal', id], {
      fields: Object.keys(changes),
      status: goal.status,
    });
  });
}
