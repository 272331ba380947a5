import { z } from 'zod';
import { allow } from '../../platform/http/access.ts';
import { answer } from '../../platform/http/answer.ts';
import { amount, moneyString, timestamp, uuid } from '../../platform/http/fields.ts';
import { readIdempotencyKey } from '../../platform/http/idempotency-key.ts';
import { listQuery, pageFields, presentPage } from '../../platform/http/paging.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { formatMoney } from '../../shared/money.ts';
import { createSubscription } from './create-subscription.ts';
import { findSubscriptions, getSubscription } from './find-subscriptions.ts';
import { stopSubscription } from './stop-subscription.ts';
import type { Subscription } from './subscription.entity.ts';
import type { SubscriptionWorkflows } from './subscription.ts';
import { attemptAt, dueAt, subscriptionIntervals, subscriptionLaw } from './subscription.ts';

const SubscriptionAnswer = z
  .object({
    id: uuid(),
    user_id: uuid(),
    cause_id: uuid(),
    amount: amount(),
    source_account_id: uuid(),
    interval: z.enum(subscriptionIntervals),
    status: z.enum(subscriptionLaw.statuses),
    started_at: timestamp().meta({ description: 'The time of the first payment, from which every period is counted.' }),
    periods_paid: z.int(),
    next_payment_at: timestamp().nullable(),
    ended_at: timestamp().nullable(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'DonationSubscription' });

function presentSubscription(subscription: Subscription): z.input<typeof SubscriptionAnswer> {
  const { status, started_at: startedAt, interval, periods_paid: period, refusals } = subscription;
  const due = dueAt(startedAt, interval, period);
  const next =
    status === 'active'
      ? attemptAt(due, refusals + 1, subscription.attempted_at, subscription.postponed_at ?? null)
      : null;
  return {
    id: subscription.id,
    user_id: subscription.user_id,
    cause_id: subscription.cause_id,
    amount: formatMoney(subscription.amount),
    source_account_id: subscription.source_account_id,
    interval,
    status,
    started_at: startedAt.toISOString(),
    periods_paid: period,
    next_payment_at: next?.toISOString() ?? null,
    ended_at: subscription.ended_at?.toISOString() ?? null,
    created_at: subscription.created_at.toISOString(),
    updated_at: subscription.updated_at.toISOString(),
  };
}

const message = z.string();
const permission = 'donate-charitable-cause';
const params = z.object({ id: uuid() });
const One = z.object({ message, data: SubscriptionAnswer });

interface Ports {
  workflows: Pick<SubscriptionWorkflows, 'startDonationSubscription' | 'wakeSubscription'>;
}

const routes = createRouteGroup<Ports>({ prefix: '/v1/donations/subscriptions', tag: 'Donations' });

routes.post(
  '/',
  {
    summary: 'Donate to a cause every week or month',
    description:
      'The first payment is made at once; if it is refused (400 if the balance does not cover it), no ' +
      'subscription is created. The n-th period is due n weeks or months after the first, with the day clamped to ' +
      'the end of the month (UTC+7). A refused period is retried a day after each refusal; the third refusal of ' +
      'one period ends the subscription as `failed`, but refusals by the cause or its organization do not count. ' +
      'The same `Idempotency-Key` and body return the same subscription. Without a key, an equal active ' +
      'subscription begun within the last ten minutes is a 400 that names it.',
    access: allow(permission, { scope: 'from own accounts' }),
    body: z.strictObject({
      cause_id: uuid(),
      amount: moneyString(),
      source_account_id: uuid(),
      interval: z.enum(subscriptionIntervals),
    }),
    idempotent: true,
    answers: { 201: One },
    refusals: [404],
  },
  async ({ em, deps, caller, body, ctx, requestId }) => {
    const key = readIdempotencyKey(ctx);
    const { subscription, isRepeated } = await createSubscription(em, deps, { caller, body, key, requestId });
    return answer(
      201,
      { message: 'Subscription created', data: presentSubscription(subscription) },
      isRepeated ? { 'Idempotency-Replayed': 'true' } : {},
    );
  },
);

routes.get(
  '/',
  {
    summary: "List the caller's subscriptions",
    access: allow(permission, { scope: 'own' }),
    query: listQuery(),
    answers: { 200: z.object({ message, data: z.object({ items: z.array(SubscriptionAnswer), ...pageFields }) }) },
  },
  async ({ em, caller, query }) => {
    const { items, ...listed } = await findSubscriptions(em, caller, query);
    return {
      message: 'Subscriptions found',
      data: { items: items.map(presentSubscription), ...presentPage(query, listed) },
    };
  },
);

routes.get(
  '/:id',
  {
    summary: 'Read a subscription',
    access: allow(permission, { scope: 'own; all for platform' }),
    params,
    answers: { 200: One },
    refusals: [404],
  },
  async ({ em, caller, params: { id } }) => ({
    message: 'Subscription found',
    data: presentSubscription(await getSubscription(em, caller, id)),
  }),
);

routes.delete(
  '/:id',
  {
    summary: 'Stop a subscription',
    description: 'No further period is paid. An ended subscription does not change.',
    access: allow(permission, { scope: 'own' }),
    params,
    answers: { 200: One },
    refusals: [404],
  },
  async ({ em, deps, caller, params: { id: subscriptionId }, requestId }) => {
    const subscription = await stopSubscription(em, deps, { caller, subscriptionId, requestId });
    return { message: 'Subscription stopped', data: presentSubscription(subscription) };
  },
);

export const subscriptionsRoutes = routes;
