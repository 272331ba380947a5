import { defineEntity, p } from '@mikro-orm/core';

const CircleRoundSchema = defineEntity({
  name: 'CircleRound',
  tableName: 'saving_circle_rounds',
  properties: {
    saving_circle_id: p.uuid().primary(),
    turn_number: p.integer().primary(),
    receiver_member_id: p.uuid(),
    opened_at: p.datetime(),
    due_at: p.datetime(),
    reminded_at: p.datetime().nullable(),
    overdue_reported_at: p.datetime().nullable(),
    defaulted_at: p.datetime().nullable(),
    remedied_at: p.datetime().nullable(),
    paid_at: p.datetime().nullable(),
    amount: p.decimal().precision(20).scale(4).nullable(),
    journal_id: p.uuid().nullable(),
  },
});

/** A circle's turn from its opening to its payout; open while `paid_at` is null. */
export class CircleRound extends CircleRoundSchema.class {}
CircleRoundSchema.setClass(CircleRound);
