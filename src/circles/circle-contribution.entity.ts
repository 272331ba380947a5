import { defineEntity, p } from '@mikro-orm/core';
import type { ContributionStatus } from './saving-circle.ts';

const CircleContributionSchema = defineEntity({
  name: 'CircleContribution',
  tableName: 'saving_circle_contributions',
  properties: {
    id: p.uuid().primary(),
    saving_circle_id: p.uuid(),
    member_id: p.uuid(),
    user_id: p.uuid(),
    turn_number: p.integer(),
    amount: p.decimal().precision(20).scale(4),
    guarantee_amount: p.decimal().precision(20).scale(4).default('0'),
    rail: p.text().$type<'gateway' | 'balance'>(),
    status: p.text().$type<ContributionStatus>(),
    refund_account_id: p.uuid(),
    payment_order_id: p.uuid().nullable(),
    transaction_id: p.uuid().nullable(),
    refund_journal_id: p.uuid().nullable(),
    refunded_amount: p.decimal().precision(20).scale(4).nullable(),
    created_at: p.datetime().defaultRaw('now()'),
    updated_at: p.datetime().defaultRaw('now()'),
  },
});

/** A payment by `user_id` for a member and a turn; the member's first includes the guarantee. */
export class CircleContribution extends CircleContributionSchema.class {}
CircleContributionSchema.setClass(CircleContribution);
