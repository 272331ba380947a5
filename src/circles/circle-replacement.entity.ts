import { defineEntity, p } from '@mikro-orm/core';
import type { ReplacementStatus } from './saving-circle.ts';

const CircleReplacementSchema = defineEntity({
  name: 'CircleReplacement',
  tableName: 'saving_circle_replacements',
  properties: {
    id: p.uuid().primary(),
    saving_circle_id: p.uuid(),
    member_id: p.uuid(),
    leaving_user_id: p.uuid(),
    account_id: p.uuid(),
    user_id: p.uuid(),
    proposed_by: p.uuid(),
    left_at: p.datetime().nullable(),
    joined_at: p.datetime().nullable(),
    status: p.text().$type<ReplacementStatus>().default('pending'),
    created_at: p.datetime().defaultRaw('now()'),
    updated_at: p.datetime().defaultRaw('now()'),
  },
});

/**
 * A proposal that a user (`user_id`, with `account_id`) take over a member's place: the leaving member agreed at
 * `left_at`, the new one at `joined_at`. A later proposal for the place withdraws an earlier one.
 */
export class CircleReplacement extends CircleReplacementSchema.class {}
CircleReplacementSchema.setClass(CircleReplacement);
