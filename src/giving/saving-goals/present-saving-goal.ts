import { formatMoney, type Money } from '../../shared/money.ts';
import type { SavingGoal } from './saving-goal.entity.ts';

/** A saving goal as the API shows it; what it holds is the balance of its account. */
export const presentSavingGoal = (goal: SavingGoal, currentAmount: Money) => ({
  id: goal.id,
  user_id: goal.user_id,
  name: goal.name,
  account_id: goal.account_id,
  target_amount: formatMoney(goal.target_amount),
  current_amount: currentAmount,
  target_date: goal.target_date ?? null,
  status: goal.status,
  closed_at: goal.closed_at?.toISOString() ?? null,
  created_at: goal.created_at.toISOString(),
  updated_at: goal.updated_at.toISOString(),
});
