import { z } from 'zod';
import { amount, timestamp, uuid } from '../platform/http/fields.ts';
import { presentFields } from '../platform/http/present-fields.ts';
import { formatMoney } from '../shared/money.ts';
import type { CircleContribution } from './circle-contribution.entity.ts';
import type { CircleMember } from './circle-member.entity.ts';
import type { CircleReplacement } from './circle-replacement.entity.ts';
import type { SavingCircle } from './saving-circle.entity.ts';
import {
  circleLaw,
  circleVisibilities,
  contributionLaw,
  replacementLaw,
  roundIntervals,
  turnOrders,
} from './saving-circle.ts';
import { TermsAnswer, termsOf } from './terms.ts';

export const circleFields = {
  id: uuid(),
  account_id: uuid(),
  name: z.string(),
  capacity: z.int().min(1),
  start_date: z.string().meta({ description: 'As requested: a date or a date-time.' }),
  starts_at: timestamp(),
  amount: amount().meta({ description: 'Each member’s contribution to each round.' }),
  owner_type: z.enum(['individual', 'organization']),
  owner_id: uuid(),
  visibility: z.enum(circleVisibilities),
  round_interval: z.enum(roundIntervals),
  turn_order: z.enum(turnOrders),
  terms: TermsAnswer.nullable().meta({
    description: 'Members accept them by joining; null for a circle without terms.',
  }),
  current_turn: z.int().min(1),
  status: z.enum(circleLaw.statuses),
  next_round_opens_at: timestamp().nullable().meta({ description: 'Set between two rounds.' }),
  created_by: uuid(),
  created_at: timestamp(),
  updated_at: timestamp(),
};
export const CircleAnswer = z.object(circleFields).meta({ id: 'SavingCircle' });

/** A circle as lists show it; in discovery without its account. */
export const ListedCircleAnswer = z
  .object({ ...circleFields, account_id: uuid().optional().meta({ description: 'Not in discovery.' }) })
  .meta({ id: 'ListedSavingCircle' });

export const MemberAnswer = z
  .object({
    id: uuid(),
    saving_circle_id: uuid(),
    account_id: uuid(),
    user_id: uuid(),
    turn_number: z
      .int()
      .nullable()
      .meta({ description: 'Null until the circle starts, and if the place ended before its turn.' }),
    excluded_turn: z
      .int()
      .nullable()
      .meta({ description: 'The turn at which a default ended the place; null otherwise.' }),
  })
  .meta({ id: 'SavingCircleMember' });

export const ReplacementAnswer = z
  .object({
    id: uuid(),
    saving_circle_id: uuid(),
    member_id: uuid().meta({
      description: 'The id of the place, which stays the same when another member takes it over.',
    }),
    leaving_user_id: uuid(),
    account_id: uuid().meta({ description: 'The new member’s.' }),
    user_id: uuid().meta({ description: 'The new member.' }),
    status: z.enum(replacementLaw.statuses),
    accepted_by_leaving_at: timestamp().nullable(),
    accepted_by_new_at: timestamp().nullable(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'SavingCircleReplacement' });

/** A member's order to pay exactly this amount for each round when it opens. */
export const StandingOrderAnswer = z.object({
  member_id: uuid(),
  source_account_id: uuid(),
  amount: amount().meta({ description: 'The contribution that it debits.' }),
  guarantee_amount: amount().meta({ description: 'Debited with the first contribution; zero once paid.' }),
  created_at: timestamp(),
});

/** The description of fields hidden from callers who do not belong to the circle. */
const forWhoBelongs = { description: 'Null for callers who are neither creator, admin nor member.' };

export const DrawAnswer = z.object({
  commitment: z.string(),
  seed: z.string().nullable(),
  order: z.array(z.object({ account_id: uuid().nullable().meta(forWhoBelongs), turn_number: z.int() })).nullable(),
  entropy: z
    .array(z.object({ account_id: uuid().nullable().meta(forWhoBelongs), value: z.string() }))
    .nullable()
    .optional()
    .meta({ description: 'In joining order; null until the draw; absent in circles without terms.' }),
});

export const SettlementAnswer = z.object({
  members: z.array(
    z.object({
      member_id: uuid(),
      account_id: uuid(),
      paid: z.string(),
      guarantee: z.string(),
      received: z.string(),
      net_position: z.string(),
    }),
  ),
  held: z.string(),
  debts: z.array(z.object({ debtor_member_id: uuid(), creditor_member_id: uuid(), amount: z.string() })),
});

export const roundFields = { turn_number: z.int(), opened_at: timestamp(), due_at: timestamp() };
export const CircleDetailAnswer = z
  .object({
    ...circleFields,
    account_id: uuid().nullable().meta(forWhoBelongs),
    round: z.object(roundFields).nullable(),
    members: z.array(MemberAnswer.extend({ account_id: uuid().nullable().meta(forWhoBelongs) })),
    contribution_summary: z.object({
      turn_number: z.int(),
      completed_count: z.int(),
      pending_count: z.int(),
      missing_user_ids: z.array(uuid()).nullable().meta(forWhoBelongs),
      expected_amount: amount(),
      collected_amount: amount(),
      total_contributed_amount: amount(),
    }),
    replacements: z.array(ReplacementAnswer).meta({
      description:
        'Open proposals to replace a member, shown to the new and the leaving member, the proposer and the platform. ' +
        'The new and the leaving member agree to one by its `id`.',
    }),
    documents: z.array(z.never()).meta({ description: 'Documents cannot be attached to saving circles yet.' }),
    aggregation: z
      .object({
        member_count: z.int().meta({
          description: 'The length of `members`, including those whose places have ended (`excluded_turn`).',
        }),
        paid_this_turn: z.int(),
        pot_amount: amount().meta({
          description: 'The pot of a round: the contribution times the number of members whose places have not ended.',
        }),
      })
      .optional(),
  })
  .meta({ id: 'SavingCircleDetail' });

/** Totals of an organization's circles; the organization is null if platform requests all. */
export const summaryFields = {
  organization_id: uuid().nullable(),
  organization_name: z.string().nullable(),
  completed_circles: z.string(),
  cancelled_circles: z.string(),
  total_contribution_amount: z.string(),
  average_capacity: z.string(),
  average_current_turn: z.string(),
};

export const contributionFields = {
  id: uuid(),
  saving_circle_id: uuid(),
  user_id: uuid().meta({ description: 'The payer.' }),
  member_id: uuid().meta({ description: 'The member for whom it was paid.' }),
  turn_number: z.int(),
  amount: amount(),
  guarantee_amount: amount().meta({ description: 'The guarantee paid with it.' }),
  rail: z.enum(['gateway', 'balance']),
  status: z.enum(contributionLaw.statuses),
  payment_order_id: uuid().nullable(),
  transaction_id: uuid().nullable(),
  created_at: timestamp(),
  updated_at: timestamp(),
};

export const presentCircle = (circle: SavingCircle): z.input<typeof CircleAnswer> =>
  presentFields(circleFields, { ...circle, terms: termsOf(circle), next_round_opens_at: circle.next_opens_at });

export const presentMember = (
  member: Pick<CircleMember, keyof typeof MemberAnswer.shape>,
): z.input<typeof MemberAnswer> => presentFields(MemberAnswer.shape, member);

export const presentReplacement = (replacement: CircleReplacement): z.input<typeof ReplacementAnswer> =>
  presentFields(ReplacementAnswer.shape, {
    ...replacement,
    accepted_by_leaving_at: replacement.left_at,
    accepted_by_new_at: replacement.joined_at,
  });

export const presentContribution = (contribution: CircleContribution) =>
  presentFields(contributionFields, {
    ...contribution,
    guarantee_amount: formatMoney(contribution.guarantee_amount),
  });
