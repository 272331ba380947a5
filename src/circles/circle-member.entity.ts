import { defineEntity, p } from '@mikro-orm/core';

const CircleMemberSchema = defineEntity({
  name: 'CircleMember',
  tableName: 'saving_circle_members',
  properties: {
    id: p.uuid().primary(),
    saving_circle_id: p.uuid(),
    account_id: p.uuid(),
    user_id: p.uuid(),
    turn_number: p.integer().nullable(),
    drawn_turn: p.integer().nullable(),
    drawn_account_id: p.uuid().nullable(),
    joining_order: p.bigint('string').autoincrement(),
    entropy: p.text().nullable(),
    consented_at: p.datetime().nullable(),
    excluded_turn: p.integer().nullable(),
    created_at: p.datetime().defaultRaw('now()'),
  },
});

/** A member of a circle, with the account that receives the pot; `turn_number` is given when the circle starts. */
export class CircleMember extends CircleMemberSchema.class {}
CircleMemberSchema.setClass(CircleMember);
