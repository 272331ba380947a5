import { z } from 'zod';
import { clearable, discoverFlag, moneyString, text, uuid } from '../platform/http/fields.ts';
import { listQuery } from '../platform/http/paging.ts';
import {
  circleLaw,
  circleVisibilities,
  defaultCapacity,
  largestPlace,
  roundIntervals,
  turnOrders,
} from './saving-circle.ts';
import { defaultRules, longestGraceDays } from './terms.ts';

function wholeFrom(least: number, most: number) {
  return z.int('must be a whole number').min(least, `must be at least ${least}`).max(most, `must be at most ${most}`);
}

const AskedTermsBody = z
  .strictObject({
    grace_days: wholeFrom(0, longestGraceDays).nullish().meta({
      description: 'Days from the end of a round until a missing contribution is a default; 0 if absent.',
    }),
    on_default: z
      .enum(defaultRules)
      .nullish()
      .meta({
        description:
          'What happens to a round with a default: `wait` waits for the missing contributions; `cover` takes them ' +
          'from guarantees, the member’s own first, or else waits; `exclude` removes members who have not paid, if ' +
          'anybody has; `winner_first` debits, once a day, members who have received the pot. Orders expire with the ' +
          'grace period. Default `wait`.',
      }),
    guarantee_percent: wholeFrom(0, 100).nullish().meta({
      description:
        'Percent of the contribution, debited with the first contribution and returned at the end; 0 if absent.',
    }),
  })
  .meta({
    description: 'How missing contributions are handled. A PATCH leaves absent fields unchanged.',
  });

const name = text(255);
const place = wholeFrom(1, largestPlace);
const startDate = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })], 'must be a date (YYYY-MM-DD) or an ISO 8601 date-time')
  .refine((value) => Number.isFinite(Date.parse(value)), 'must be a date (YYYY-MM-DD) or an ISO 8601 date-time')
  .meta({
    override: { type: 'string' },
    description: 'A date (midnight in UTC+7; today means at once) or a date-time, before the year 2199.',
  });

export const NewCircleBody = z.strictObject({
  account_id: uuid(),
  name,
  capacity: place.default(defaultCapacity),
  start_date: startDate,
  amount: moneyString(),
  visibility: z.enum(circleVisibilities).default('private'),
  round_interval: z.enum(roundIntervals).default('monthly'),
  turn_order: z.enum(turnOrders).default('joining'),
  terms: AskedTermsBody.optional(),
});
export type NewCircle = z.output<typeof NewCircleBody>;

/** Null removes the terms. */
export const CircleChangeBody = z.strictObject({
  name: name.optional(),
  capacity: place.optional(),
  start_date: startDate.optional(),
  amount: moneyString().optional(),
  current_turn: place.optional(),
  visibility: z.enum(circleVisibilities).optional(),
  terms: clearable(AskedTermsBody),
});
export type CircleChange = z.output<typeof CircleChangeBody>;

/** `discover` lists every public circle, for any caller. */
export const CircleQuery = listQuery().extend({
  status: z.enum(circleLaw.statuses).optional(),
  organization_id: uuid().optional(),
  user_id: uuid().optional(),
  account_id: uuid().optional(),
  discover: discoverFlag(),
});

export const ContributionBody = z.strictObject({
  saving_circle_id: uuid(),
  contribution_amount: moneyString(),
  payment_id: z.int().optional(),
  source_account_id: uuid().optional(),
  on_behalf_of: uuid().optional().meta({ description: 'The id of another member, to pay that member’s contribution.' }),
});
export type ContributionRequest = z.output<typeof ContributionBody>;
