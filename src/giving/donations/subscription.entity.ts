import { defineEntity, p } from '@mikro-orm/core';
import type { SubscriptionInterval, SubscriptionStatus } from './subscription.ts';

const SubscriptionSchema = defineEntity({
  name: 'Subscription',
  tableName: 'donation_subscriptions',
  properties: {
    id: p.uuid().primary(),
    user_id: p.uuid(),
    cause_id: p.uuid(),
    amount: p.decimal().precision(20).scale(4),
    source_account_id: p.uuid(),
    interval: p.text().$type<SubscriptionInterval>(),
    status: p.text().$type<SubscriptionStatus>(),
    started_at: p.datetime(),
    periods_paid: p.integer(),
    refusals: p.smallint(),
    /** When the last attempt was made, paid or refused. */
    attempted_at: p.datetime(),
    /** When the receiving side last refused the next period. */
    postponed_at: p.datetime().nullable(),
    ended_at: p.datetime().nullable(),
    created_at: p.datetime().defaultRaw('now()'),
    updated_at: p.datetime().defaultRaw('now()'),
  },
});

/** A recurring donation; `periods_paid` is also the number of the next period. */
export class Subscription extends SubscriptionSchema.class {}
SubscriptionSchema.setClass(Subscription);
