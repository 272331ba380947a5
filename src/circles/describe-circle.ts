import type { EntityManager } from '@mikro-orm/postgresql';
import { type Caller, isPlatform } from '../shared/caller.ts';
import { addMoney } from '../shared/money.ts';
import { CircleReplacement } from './circle-replacement.entity.ts';
import { CircleRound } from './circle-round.entity.ts';
import { findPositions, type Position } from './find-positions.ts';
import type { SavingCircle } from './saving-circle.entity.ts';

export type CircleDescription = Awaited<ReturnType<typeof describeCircle>>;

/**
 * A circle with its members in turn order, its open round, its contributions (IDR, scale 4) in the current turn and in
 * total, and the proposals for places in it that the caller may see, oldest first.
 */
export async function describeCircle(em: EntityManager, caller: Caller, circle: SavingCircle) {
  const { id: saving_circle_id, current_turn: turn_number } = circle;
  const positions = await findPositions(em, circle.id);
  const places = positions.filter(({ excluded_turn }) => excluded_turn === null);
  const open = circle.status === 'active' && !circle.next_opens_at;
  const paid = places.filter(({ has_paid }) => has_paid);
  const missing = open ? places.filter(({ has_paid }) => !has_paid) : [];
  const each = (members: readonly Position[]) => addMoney('0', ...members.map(() => circle.amount));
  return {
    circle,
    members: positions.map((position) => ({ ...position, id: position.member_id, saving_circle_id })),
    round: open ? await em.findOne(CircleRound, { saving_circle_id, turn_number }) : null,
    contributions: {
      turn_number,
      completed_count: paid.length,
      pending_count: places.filter(({ has_order }) => has_order).length,
      missing_user_ids: missing.map(({ user_id }) => user_id),
      expected_amount: each(places),
      collected_amount: each(paid),
      total_contributed_amount: addMoney('0', ...positions.map((position) => position.paid)),
    },
    replacements: circle.status === 'active' ? await findReplacements(em, caller, circle, places) : [],
  };
}

/** Those that the caller made, or which concern the caller as the new or the leaving member; all for the platform. */
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
