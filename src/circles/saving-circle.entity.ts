import { defineEntity, p } from '@mikro-orm/core';
import type { CircleOwnerType, CircleStatus, CircleVisibility, RoundInterval, TurnOrder } from './saving-circle.ts';
import type { DefaultRule } from './terms.ts';

const SavingCircleSchema = defineEntity({
  name: 'SavingCircle',
  tableName: 'saving_circles',
  properties: {
    id: p.uuid().primary(),
    name: p.string().length(255),
    account_id: p.uuid(),
    holding_account_id: p.uuid(),
    owner_type: p.text().$type<CircleOwnerType>(),
    owner_id: p.uuid(),
    organization_id: p.uuid().nullable(),
    created_by: p.uuid(),
    capacity: p.integer(),
    amount: p.decimal().precision(20).scale(4),
    visibility: p.text().$type<CircleVisibility>(),
    round_interval: p.text().$type<RoundInterval>(),
    turn_order: p.text().$type<TurnOrder>(),
    grace_days: p.integer().nullable(),
    on_default: p.text().$type<DefaultRule>().nullable(),
    guarantee_percent: p.integer().nullable(),
    start_date: p.text(),
    starts_at: p.datetime(),
    current_turn: p.integer().default(1),
    first_turn: p.integer().nullable(),
    status: p.text().$type<CircleStatus>().default('new'),
    schedule_anchor: p.datetime().nullable(),
    schedule_step: p.integer().default(0),
    next_opens_at: p.datetime().nullable(),
    draw_commitment: p.text().nullable(),
    draw_seed_sealed: p.text().nullable(),
    draw_seed: p.text().nullable(),
    created_at: p.datetime().defaultRaw('now()'),
    updated_at: p.datetime().defaultRaw('now()'),
    started_at: p.datetime().nullable(),
    ended_at: p.datetime().nullable(),
    deleted_at: p.datetime().nullable(),
  },
});

/**
 * A rotating savings group. `start_date` is as requested, `starts_at` its instant. Rounds open at `schedule_anchor`
 * plus `schedule_step` intervals; `next_opens_at` is set between rounds.
 */
export class SavingCircle extends SavingCircleSchema.class {}
SavingCircleSchema.setClass(SavingCircle);
