import { z } from 'zod';
import { amount, timestamp, uuid } from '../platform/http/fields.ts';
import { formatMoney } from '../shared/money.ts';
import type { CircleContribution } from './circle-contribution.entity.ts';
import type { CircleMember } from './circle-member.entity.ts';
import type { CircleReplacement } from './circle-replacement.entity.ts';
import type { CircleDescription } from './describe-circle.ts';
import { presentReplacement, ReplacementAnswer } from './present-replacement.ts';
import type { SavingCircle } from './saving-circle.entity.ts';
import { circleLaw, circleVisibilities, contributionLaw, roundIntervals, turnOrders } from './saving-circle.ts';
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

/** The description of a field that callers who do not belong to the circle do not see. */
export const forWhoBelongs = { description: 'Null for callers who are neither creator, admin nor member.' };

export const CircleDetailAnswer = z
  .object({
    ...circleFields,
    account_id: uuid().nullable().meta(forWhoBelongs),
    round: z.object({ turn_number: z.int(), opened_at: timestamp(), due_at: timestamp() }).nullable(),
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

export const presentCircle = (circle: SavingCircle): z.input<typeof CircleAnswer> => ({
  id: circle.id,
  account_id: circle.account_id,
  name: circle.name,
  capacity: circle.capacity,
  start_date: circle.start_date,
  starts_at: circle.starts_at.toISOString(),
  amount: circle.amount,
  owner_type: circle.owner_type,
  owner_id: circle.owner_id,
  visibility: circle.visibility,
  round_interval: circle.round_interval,
  turn_order: circle.turn_order,
  terms: termsOf(circle),
  current_turn: circle.current_turn,
  status: circle.status,
  next_round_opens_at: circle.next_opens_at?.toISOString() ?? null,
  created_by: circle.created_by,
  created_at: circle.created_at.toISOString(),
  updated_at: circle.updated_at.toISOString(),
});

export const presentMember = (member: CircleMember): z.input<typeof MemberAnswer> => ({
  id: member.id,
  saving_circle_id: member.saving_circle_id,
  account_id: member.account_id,
  user_id: member.user_id,
  turn_number: member.turn_number ?? null,
  excluded_turn: member.excluded_turn ?? null,
});

/**
 * The detail of a circle: mobile clients get the stored fields, web clients also an aggregation. Callers who may see
 * but do not belong to the circle see neither accounts nor who has not paid. `replacements` are the proposals that the
 * caller may see.
 */
export function presentDetail(
  { circle, members, round, contributions }: CircleDescription,
  {
    isMobile,
    isStranger,
    replacements,
  }: { isMobile: boolean; isStranger: boolean; replacements: readonly CircleReplacement[] },
): z.input<typeof CircleDetailAnswer> {
  const aggregation = {
    member_count: members.length,
    paid_this_turn: contributions.completed_count,
    pot_amount: contributions.expected_amount,
  };
  return {
    ...presentCircle(circle),
    ...(isStranger && { account_id: null }),
    round: round && {
      turn_number: round.turn_number,
      opened_at: round.opened_at.toISOString(),
      due_at: round.due_at.toISOString(),
    },
    members: members.map((member) => ({ ...presentMember(member), ...(isStranger && { account_id: null }) })),
    contribution_summary: { ...contributions, ...(isStranger && { missing_user_ids: null }) },
    replacements: replacements.map(presentReplacement),
    documents: [],
    ...(isMobile ? {} : { aggregation }),
  };
}

export const presentContribution = (contribution: CircleContribution) => ({
  id: contribution.id,
  saving_circle_id: contribution.saving_circle_id,
  user_id: contribution.user_id,
  member_id: contribution.member_id,
  turn_number: contribution.turn_number,
  amount: contribution.amount,
  guarantee_amount: formatMoney(contribution.guarantee_amount),
  rail: contribution.rail,
  status: contribution.status,
  payment_order_id: contribution.payment_order_id ?? null,
  transaction_id: contribution.transaction_id ?? null,
  created_at: contribution.created_at.toISOString(),
  updated_at: contribution.updated_at.toISOString(),
});
