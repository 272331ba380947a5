import { z } from 'zod';
import { amount, timestamp, uuid } from '../platform/http/fields.ts';
import { presentFields } from '../platform/http/present-fields.ts';
import { formatMoney } from '../shared/money.ts';
import type { CircleContribution } from './circle-contribution.entity.ts';
import type { CircleMember } from './circle-member.entity.ts';
import type { CircleReplacement } from './circle-replacement.entity.ts';
import type { CircleDescription } from './describe-circle.ts';
import type { SavingCircle } from './saving-circle.entity.ts';
import {
  circleLaw,
  circleVisibilities,
  contributionLaw,
  replacementLaw,
  roundIntervals,
  turnOrders,
} from './saving-circle.ts';
import { defaultRules, longestGraceDays, termsOf } from './terms.ts';

export const TermsAnswer = z
  .object({
    grace_days: z.int().min(0).max(longestGraceDays),
    on_default: z.enum(defaultRules),
    guarantee_percent: z.int().min(0).max(100),
  })
  .meta({ id: 'SavingCircleTerms' });

export const circleFields = {
  id: uuid(),
  account_id: uuid(),
  name: z.string(),
  capacity: z.int().min(1),
  start_date: z.string().meta({ description: 'The date, or the date-time, that was asked for.' }),
  starts_at: timestamp(),
  amount: amount().meta({ description: 'The contribution of each member to each round.' }),
  owner_type: z.enum(['individual', 'organization']),
  owner_id: uuid(),
  visibility: z.enum(circleVisibilities),
  round_interval: z.enum(roundIntervals),
  turn_order: z.enum(turnOrders),
  terms: TermsAnswer.nullable().meta({
    description: 'What members accept by joining; null of a circle without terms.',
  }),
  current_turn: z.int().min(1),
  status: z.enum(circleLaw.statuses),
  next_round_opens_at: timestamp().nullable().meta({ description: 'Set between two rounds.' }),
  created_by: uuid(),
  created_at: timestamp(),
  updated_at: timestamp(),
};
export const CircleAnswer = z.object(circleFields).meta({ id: 'SavingCircle' });

/** A circle as lists show it: in discovery without its account. */
export const ListedCircleAnswer = z
  .object({ ...circleFields, account_id: uuid().optional().meta({ description: 'Not in discovery.' }) })
  .meta({ id: 'ListedSavingCircle' });

export function withoutAccount<T extends { account_id: string }>(
  circle: T,
  discovered: boolean | undefined,
): T | Omit<T, 'account_id'> {
  const { account_id: _, ...open } = circle;
  return discovered ? open : circle;
}

export const MemberAnswer = z
  .object({
    id: uuid(),
    saving_circle_id: uuid(),
    account_id: uuid(),
    user_id: uuid(),
    turn_number: z.int().nullable().meta({ description: 'Null until the circle starts.' }),
    excluded_turn: z
      .int()
      .nullable()
      .meta({ description: 'The turn in whose round the place ended by a default; null while it stands.' }),
  })
  .meta({ id: 'SavingCircleMember' });

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

/** The description of a field that callers who do not belong to the circle do not see. */
const forWhoBelongs = { description: 'Null for callers who are neither creator, admin nor member.' };

export const DrawAnswer = z.object({
  commitment: z.string(),
  seed: z.string().nullable(),
  order: z.array(z.object({ account_id: uuid().nullable().meta(forWhoBelongs), turn_number: z.int() })).nullable(),
  entropy: z
    .array(z.object({ account_id: uuid().nullable().meta(forWhoBelongs), value: z.string() }))
    .nullable()
    .optional()
    .meta({ description: 'In the order of joining, null until the draw; not in circles without terms.' }),
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

const roundFields = { turn_number: z.int(), opened_at: timestamp(), due_at: timestamp() };
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
        'Open proposals that somebody takes over a place: to the new and the leaving member, whoever made them, and the ' +
        'platform. With `id` the new and the leaving member agree.',
    }),
    documents: z.array(z.never()).meta({ description: 'Documents cannot be attached to saving circles yet.' }),
    aggregation: z
      .object({
        member_count: z.int().meta({
          description: 'Everybody in `members`, also those whose places have ended (`excluded_turn`).',
        }),
        paid_this_turn: z.int(),
        pot_amount: amount().meta({
          description:
            'What the receiver of a round gets: the contribution times the members whose places have not ended.',
        }),
      })
      .optional(),
  })
  .meta({ id: 'SavingCircleDetail' });

/** Of an organization's circles; the organization is null when the platform asks for everything. */
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
  user_id: uuid().meta({ description: 'Who paid.' }),
  member_id: uuid().meta({ description: 'Whose contribution it is.' }),
  turn_number: z.int(),
  amount: amount(),
  guarantee_amount: amount().meta({ description: 'What was paid beside it as the guarantee.' }),
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
  member: CircleMember | CircleDescription['members'][number],
): z.input<typeof MemberAnswer> => presentFields(MemberAnswer.shape, member);

export const presentReplacement = (replacement: CircleReplacement): z.input<typeof ReplacementAnswer> =>
  presentFields(ReplacementAnswer.shape, {
    ...replacement,
    accepted_by_leaving_at: replacement.left_at,
    accepted_by_new_at: replacement.joined_at,
  });

/**
 * The detail of a circle: mobile clients get the stored fields, web clients also an aggregation. Outsiders who may see
 * the circle see neither accounts nor who has not paid.
 */
export function presentDetail(
  { circle, members, round, contributions, replacements }: CircleDescription,
  { isMobile, isStranger }: { isMobile: boolean; isStranger: boolean },
): z.input<typeof CircleDetailAnswer> {
  const aggregation = {
    member_count: members.length,
    paid_this_turn: contributions.completed_count,
    pot_amount: contributions.expected_amount,
  };
  return {
    ...presentCircle(circle),
    ...(isStranger && { account_id: null }),
    round: round && presentFields(roundFields, round),
    members: members.map((member) => ({ ...presentMember(member), ...(isStranger && { account_id: null }) })),
    contribution_summary: { ...contributions, ...(isStranger && { missing_user_ids: null }) },
    replacements: replacements.map(presentReplacement),
    documents: [],
    ...(isMobile ? {} : { aggregation }),
  };
}

export const presentContribution = (contribution: CircleContribution) =>
  presentFields(contributionFields, {
    ...contribution,
    guarantee_amount: formatMoney(contribution.guarantee_amount),
  });
