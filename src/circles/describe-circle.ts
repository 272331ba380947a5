import type { EntityManager } from '@mikro-orm/postgresql';
import { type Caller, isPlatform } from '../shared/caller.ts';
import type { Money } from '../shared/money.ts';
import { CircleMember } from './circle-member.entity.ts';
import { CircleReplacement } from './circle-replacement.entity.ts';
import { CircleRound } from './circle-round.entity.ts';
import type { SavingCircle } from './saving-circle.entity.ts';

/** Contributions, in the current turn and in total. */
export interface ContributionSummary {
  turn_number: number;
  completed_count: number;
  pending_count: number;
  missing_user_ids: string[];
  /** IDR, scale 4. */
  expected_amount: Money;
  collected_amount: Money;
  total_contributed_amount: Money;
}

export interface CircleDescription {
  circle: SavingCircle;
  members: CircleMember[];
  /** The open round, or null. */
  round: CircleRound | null;
  contributions: ContributionSummary;
  /** The proposals for places that the caller may see, and to which somebody may still agree, oldest first. */
  replacements: CircleReplacement[];
}

type Totals = Pick<ContributionSummary, 'expected_amount' | 'collected_amount' | 'total_contributed_amount'> & {
  completed_member_ids: string[];
  pending_count: string;
};

const totalsQuery = `
  select (c.amount * ?)::numeric(20, 4)::text as expected_amount,
    coalesce(sum(p.amount) filter (where p.turn_number = c.current_turn and p.status = 'completed'), 0)::numeric(20, 4)::text
      as collected_amount,
    round(coalesce(sum(p.amount) filter (where p.status = 'completed'), 0), 4)::text as total_contributed_amount,
    coalesce(json_agg(p.member_id) filter (where p.turn_number = c.current_turn and p.status = 'completed'), '[]')
      as completed_member_ids,
    count(*) filter (where p.turn_number = c.current_turn and p.status = 'pending') as pending_count
  from saving_circles c left join saving_circle_contributions p on p.saving_circle_id = c.id
  where c.id = ? group by c.id`;

/** A circle with its members in turn order, its open round, its contributions and the proposals for places in it. */
export async function describeCircle(
  em: EntityManager,
  caller: Caller,
  circle: SavingCircle,
): Promise<CircleDescription> {
  const members = await em.find(
    CircleMember,
    { saving_circle_id: circle.id },
    { orderBy: { turn_number: 'asc', joining_order: 'asc' } },
  );
  const places = members.filter(({ excluded_turn }) => !excluded_turn);
  const open = circle.status === 'active' && !circle.next_opens_at;
  const round = open
    ? await em.findOne(CircleRound, { saving_circle_id: circle.id, turn_number: circle.current_turn })
    : null;
  const [totals] = await em.execute<[Totals]>(totalsQuery, [places.length, circle.id]);
  const { completed_member_ids, pending_count, ...amounts } = totals;
  const paid = new Set(completed_member_ids);
  const missing = open ? places.filter(({ id }) => !paid.has(id)) : [];
  return {
    circle,
    members,
    round,
    contributions: {
      turn_number: circle.current_turn,
      completed_count: paid.size,
      pending_count: Number(pending_count),
      missing_user_ids: missing.map(({ user_id }) => user_id),
      ...amounts,
    },
    replacements: circle.status === 'active' ? await findReplacements(em, caller, circle, places) : [],
  };
}

/** Those that the caller made, or which concern the caller as the new or the leaving member; all for the platform. */
async function findReplacements(
  em: EntityManager,
  caller: Caller,
  { id: saving_circle_id }: SavingCircle,
  places: CircleMember[],
): Promise<CircleReplacement[]> {
  const { userId } = caller;
  const concerned = { $or: [{ user_id: userId }, { leaving_user_id: userId }, { proposed_by: userId }] };
  const found = await em.find(
    CircleReplacement,
    { saving_circle_id, status: 'pending', ...(isPlatform(caller) ? {} : concerned) },
    { orderBy: { created_at: 'asc', id: 'asc' } },
  );
  return found.filter(({ member_id }) => places.some(({ id }) => id === member_id));
}
