import type { EntityManager } from '@mikro-orm/postgresql';
import { findBalances } from '../../ledger/find-accounts.ts';
import { type ListWindow, readPage } from '../../platform/database/find-page.ts';
import type { Listed } from '../../platform/database/position.ts';
import { readFresh } from '../../platform/database/replica.ts';
import { type Caller, isPlatform } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import type { Money } from '../../shared/money.ts';
import { SavingGoal } from './saving-goal.entity.ts';
import type { SavingGoalStatus } from './saving-goal.ts';

export interface FoundSavingGoal {
  goal: SavingGoal;
  /** IDR, scale 4: the balance of its account. */
  currentAmount: Money;
}

/** Throws FORBIDDEN unless the goal is the caller's own (docs/contract.md 0). */
export function refuseUnlessOwn(caller: Caller, goal: SavingGoal): void {
  if (goal.user_id !== caller.userId) refuse('FORBIDDEN', 'the saving goal is not yours', { field: 'saving_goal_id' });
}

/** Returns a page of the caller's own saving goals (all for platform), newest first. */
export function findSavingGoals(
  em: EntityManager,
  caller: Caller,
  { status, ...window }: ListWindow & { status?: SavingGoalStatus | undefined },
): Promise<Listed & { items: FoundSavingGoal[] }> {
  const within = isPlatform(caller) ? {} : { user_id: caller.userId };
  const where = { ...within, ...(status && { status }) };
  return readFresh(em, async (reader) => {
    const { items, ...listed } = await readPage(reader, SavingGoal, where, window, { within });
    const balanceOf = await findBalances(
      reader,
      items.map(({ account_id }) => account_id),
    );
    return { items: items.map((goal) => ({ goal, currentAmount: balanceOf(goal.account_id) })), ...listed };
  });
}

/** Reads a saving goal. Throws NOT_FOUND or FORBIDDEN. */
export async function getSavingGoal(em: EntityManager, caller: Caller, id: string): Promise<FoundSavingGoal> {
  const goal = await em.findOne(SavingGoal, { id }, { refresh: true });
  if (goal === null) refuse('NOT_FOUND', 'the saving goal was not found', { field: 'saving_goal_id' });
  if (!isPlatform(caller)) refuseUnlessOwn(caller, goal);
  const balanceOf = await findBalances(em, [goal.account_id]);
  return { goal, currentAmount: balanceOf(goal.account_id) };
}
