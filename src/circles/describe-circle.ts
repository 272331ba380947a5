import type { EntityManager } from '@mikro-orm/postgresql';
import type { z } from 'zod';
import { presentFields } from '../platform/http/present-fields.ts';
import { must } from '../shared/assert.ts';
import { type Caller, isPlatform } from '../shared/caller.ts';
import { refuse } from '../shared/errors.ts';
import { addMoney } from '../shared/money.ts';
import { isFinal } from '../shared/status-law.ts';
import { CircleMember } from './circle-member.entity.ts';
import { CircleReplacement } from './circle-replacement.entity.ts';
import { CircleRound } from './circle-round.entity.ts';
import { getOwnCircle, type SeenCircle } from './find-circle.ts';
import { findPositions, type Position } from './find-positions.ts';
import {
  type CircleDetailAnswer,
  presentCircle,
  presentMember,
  presentReplacement,
  roundFields,
} from './present-circle.ts';
import type { SavingCircle } from './saving-circle.entity.ts';
import { circleLaw } from './saving-circle.ts';
import { settle } from './settlement.ts';
import { drawsWithEntropy } from './terms.ts';

/**
 * Returns a circle's response: members in turn order, open round, contributions (IDR, scale 4), and the replacements
 * that the caller may see, oldest first; for web clients `withAggregation`. Strangers see neither accounts nor who has
 * not paid.
 */
export async function describeCircle(
  em: EntityManager,
  caller: Caller,
  { circle, isStranger }: SeenCircle,
  { withAggregation }: { withAggregation: boolean },
): Promise<z.input<typeof CircleDetailAnswer>> {
  const { id: saving_circle_id, current_turn: turn_number } = circle;
  const positions = await findPositions(em, circle.id);
  const places = positions.filter(({ excluded_turn }) => excluded_turn === null);
  const open = circle.status === 'active' && !circle.next_opens_at;
  const round = open ? await em.findOne(CircleRound, { saving_circle_id, turn_number }) : null;
  const paid = places.filter(({ has_paid }) => has_paid);
  const missing = open ? places.filter(({ has_paid }) => !has_paid) : [];
  const each = (members: readonly Position[]) => addMoney('0', ...members.map(() => circle.amount));
  const hidden = isStranger && { account_id: null };
  const replacements = circle.status === 'active' ? await findReplacements(em, caller, circle, places) : [];
  return {
    ...presentCircle(circle),
    ...hidden,
    round: round && presentFields(roundFields, round),
    members: positions.map((position) => ({
      ...presentMember({ ...position, id: position.member_id, saving_circle_id }),
      ...hidden,
    })),
    contribution_summary: {
      turn_number,
      completed_count: paid.length,
      pending_count: places.filter(({ has_order }) => has_order).length,
      missing_user_ids: isStranger ? null : missing.map(({ user_id }) => user_id),
      expected_amount: each(places),
      collected_amount: each(paid),
      total_contributed_amount: addMoney('0', ...positions.map((position) => position.paid)),
    },
    replacements: replacements.map(presentReplacement),
    documents: [],
    ...(withAggregation && {
      aggregation: { member_count: positions.length, paid_this_turn: paid.length, pot_amount: each(places) },
    }),
  };
}

/** Finds proposals made by the caller or naming the caller as the new or leaving member; all for platform. */
async function findReplacements(
  em: EntityManager,
  caller: Caller,
  { id: saving_circle_id }: SavingCircle,
  places: readonly Position[],
): Promise<CircleReplacement[]> {
  const { userId } = caller;
  const concerned = { $or: [{ user_id: userId }, { leaving_user_id: userId }, { proposed_by: userId }] };
  const found = await em.find(
    CircleReplacement,
    { saving_circle_id, status: 'pending', ...(isPlatform(caller) ? {} : concerned) },
    { orderBy: { created_at: 'asc', id: 'asc' } },
  );
  return found.filter(({ member_id }) => places.some((place) => place.member_id === member_id));
}

/** Returns the draw of a circle's lottery, so that members can verify it. Throws NOT_FOUND for a circle without one. */
export async function findDraw(em: EntityManager, { circle, isStranger }: SeenCircle) {
  if (!circle.draw_commitment) refuse('NOT_FOUND', 'this saving circle has no lottery', { field: 'id' });
  const seed = circle.draw_seed ?? null;
  const found = { saving_circle_id: circle.id };
  const drawn = await em.find(CircleMember, found, { orderBy: { drawn_turn: 'asc' }, refresh: true });
  // The draw itself, regardless of later changes to turns and places.
  const accountOf = ({ drawn_account_id }: CircleMember) =>
    isStranger ? null : must(drawn_account_id, 'a draw covers the account of every member');
  const turnOf = ({ drawn_turn }: CircleMember) => must(drawn_turn, 'a draw gave every member a turn');
  const joined = drawn.toSorted((left, right) => Number(BigInt(left.joining_order) - BigInt(right.joining_order)));
  const entropy = () => joined.map((member) => ({ account_id: accountOf(member), value: member.entropy ?? '' }));
  return {
    commitment: circle.draw_commitment,
    seed,
    order: seed && drawn.map((member) => ({ account_id: accountOf(member), turn_number: turnOf(member) })),
    ...(drawsWithEntropy(circle) && { entropy: seed && entropy() }),
  };
}

/**
 * Returns a circle's settlement in turn order, for members and managers. Throws NOT_FOUND, and FORBIDDEN for anybody
 * else.
 */
export async function findSettlement(em: EntityManager, caller: Caller, circleId: string) {
  await getOwnCircle(em, caller, circleId);
  const positions = await findPositions(em, circleId);
  const [first] = positions;
  return settle(positions, {
    hasEnded: first !== undefined && isFinal(circleLaw, first.status),
    covered: positions.flatMap(({ owed }) => owed),
  });
}
