import { defineEntity, p } from '@mikro-orm/core';
import type { SavingGoalStatus } from './saving-goal.ts';

const SavingGoalSchema = defineEntity({
  name: 'SavingGoal',
  tableName: 'saving_goals',
  properties: {
    id: p.uuid().primary(),
    user_id: p.uuid(),
    organization_id: p.uuid().nullable(),
    name: p.string().length(200),
    account_id: p.uuid(),
    target_amount: p.decimal().precision(20).scale(4),
    target_date: p.date().nullable(),
    status: p.text().$type<SavingGoalStatus>(),
    closed_at: p.datetime().nullable(),
    released_to: p.uuid().nullable(),
    created_at: p.datetime(),
    updated_at: p.datetime(),
  },
});

/** A person's saving goal. Its account's balance is the amount saved. */
export class SavingGoal extends SavingGoalSchema.class {}
SavingGoalSchema.setClass(SavingGoal);
