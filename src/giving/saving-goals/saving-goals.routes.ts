import { z } from 'zod';
import { allow } from '../../platform/http/access.ts';
import { created } from '../../platform/http/answer.ts';
import { amount, isoDate, moneyString, text, timestamp, uuid } from '../../platform/http/fields.ts';
import { listQuery, pageFields, presentPage } from '../../platform/http/paging.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { formatMoney, type Money } from '../../shared/money.ts';
import { createSavingGoal } from './create-saving-goal.ts';
import { findSavingGoals, getSavingGoal } from './find-saving-goals.ts';
import { releaseSavingGoal } from './release-saving-goal.ts';
import type { SavingGoal } from './saving-goal.entity.ts';
import { savingGoalLaw } from './saving-goal.ts';
import { updateSavingGoal } from './update-saving-goal.ts';

/** Returns a saving goal as the API shows it; `currentAmount` is the balance of its account. */
const presentSavingGoal = (goal: SavingGoal, currentAmount: Money) => ({
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

const SavingGoalShape = z
  .object({
    id: uuid(),
    user_id: uuid(),
    name: z.string(),
    account_id: uuid(),
    target_amount: amount(),
    current_amount: amount().meta({ description: 'The balance of its account.' }),
    target_date: isoDate().nullable(),
    status: z.enum(savingGoalLaw.statuses),
    closed_at: timestamp().nullable().meta({ description: 'When it was released.' }),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'SavingGoal' });

const SavingGoalAnswer = z.object({ message: z.string(), data: SavingGoalShape });
const savers = allow('contribute-saving-goal', { scope: 'own' });
const readers = allow('contribute-saving-goal', { scope: 'own; all for platform' });

const routes = createRouteGroup({
  prefix: '/v1/saving-goals',
  tag: 'Saving goals',
  description: 'Personal saving goals. Each has its own account, credited by `saving_goal_contribution`.',
});

routes.get(
  '/',
  {
    summary: 'List saving goals',
    access: readers,
    query: listQuery().extend({ status: z.enum(savingGoalLaw.statuses).optional() }),
    answers: {
      200: z.object({ message: z.string(), data: z.object({ items: z.array(SavingGoalShape), ...pageFields }) }),
    },
  },
  async ({ em, caller, query }) => {
    const { items, ...listed } = await findSavingGoals(em, caller, query);
    return {
      message: 'Saving goals found',
      data: {
        items: items.map(({ goal, currentAmount }) => presentSavingGoal(goal, currentAmount)),
        ...presentPage(query, listed),
      },
    };
  },
);

routes.post(
  '/',
  {
    summary: 'Create a saving goal',
    access: savers,
    body: z.strictObject({ name: text(200), target_amount: moneyString(), target_date: isoDate().nullish() }),
    answers: { 201: SavingGoalAnswer },
  },
  async ({ em, caller, body, requestId }) => {
    const id = await createSavingGoal(em, caller, body, requestId);
    const { goal, currentAmount } = await getSavingGoal(em, caller, id);
    return created({ message: 'Saving goal created', data: presentSavingGoal(goal, currentAmount) });
  },
);

routes.get(
  '/:saving_goal_id',
  {
    summary: 'Read a saving goal',
    access: readers,
    params: z.object({ saving_goal_id: uuid() }),
    answers: { 200: SavingGoalAnswer },
    refusals: [404],
  },
  async ({ em, caller, params }) => {
    const { goal, currentAmount } = await getSavingGoal(em, caller, params.saving_goal_id);
    return { message: 'Saving goal found', data: presentSavingGoal(goal, currentAmount) };
  },
);

routes.patch(
  '/:saving_goal_id',
  {
    summary: 'Change a saving goal',
    description:
      '`completed` is set when the target is reached; raising the target makes the goal active again. A closed goal is a 400.',
    access: savers,
    params: z.object({ saving_goal_id: uuid() }),
    body: z.strictObject({
      name: text(200).optional(),
      target_amount: moneyString().optional(),
      target_date: isoDate().nullish(),
    }),
    answers: { 200: SavingGoalAnswer },
    refusals: [404],
  },
  async ({ em, caller, params, body, requestId }) => {
    await updateSavingGoal(em, caller, { id: params.saving_goal_id, change: body, requestId });
    const { goal, currentAmount } = await getSavingGoal(em, caller, params.saving_goal_id);
    return { message: 'Saving goal changed', data: presentSavingGoal(goal, currentAmount) };
  },
);

routes.post(
  '/:saving_goal_id/release',
  {
    summary: 'Release a saving goal',
    description:
      'Moves the balance, whether the goal is completed or not, to `account_id`, an account of the owner, and closes ' +
      'the goal permanently. Orders paid later are credited to that account. A closed goal is a 400.',
    access: savers,
    params: z.object({ saving_goal_id: uuid() }),
    body: z.strictObject({ account_id: uuid() }),
    answers: { 200: SavingGoalAnswer },
    refusals: [404],
  },
  async ({ em, caller, params, body, requestId }) => {
    await releaseSavingGoal(em, caller, { id: params.saving_goal_id, accountId: body.account_id, requestId });
    const { goal, currentAmount } = await getSavingGoal(em, caller, params.saving_goal_id);
    return { message: 'Saving goal released', data: presentSavingGoal(goal, currentAmount) };
  },
);

export const savingGoalsRoutes = routes;
