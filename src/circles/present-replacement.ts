import { z } from 'zod';
import { timestamp, uuid } from '../platform/http/fields.ts';
import type { CircleReplacement } from './circle-replacement.entity.ts';
import { replacementLaw } from './saving-circle.ts';

export const ReplacementAnswer = z
  .object({
    id: uuid(),
    saving_circle_id: uuid(),
    member_id: uuid().meta({ description: 'The place: it stays what it is, whoever has it.' }),
    leaving_user_id: uuid(),
    account_id: uuid().meta({ description: 'Of the new member.' }),
    user_id: uuid().meta({ description: 'The new member.' }),
    status: z.enum(replacementLaw.statuses),
    accepted_by_leaving_at: timestamp().nullable(),
    accepted_by_new_at: timestamp().nullable(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'SavingCircleReplacement' });

export const presentReplacement = (replacement: CircleReplacement): z.input<typeof ReplacementAnswer> => ({
  id: replacement.id,
  saving_circle_id: replacement.saving_circle_id,
  member_id: replacement.member_id,
  leaving_user_id: replacement.leaving_user_id,
  account_id: replacement.account_id,
  user_id: replacement.user_id,
  status: replacement.status,
  accepted_by_leaving_at: replacement.left_at?.toISOString() ?? null,
  accepted_by_new_at: replacement.joined_at?.toISOString() ?? null,
  created_at: replacement.created_at.toISOString(),
  updated_at: replacement.updated_at.toISOString(),
});
