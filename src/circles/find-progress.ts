import type { EntityManager } from '@mikro-orm/postgresql';
import { must } from '../shared/assert.ts';
import { isFinal } from '../shared/status-law.ts';
import { refuseUnknownCircle } from './change-circle.ts';
import type { CircleProgress } from './circle-contract.ts';
import { CircleRound } from './circle-round.entity.ts';
import { findPositions, type Position } from './find-positions.ts';
import { nextOfRound, type RoundFacts, remedyOf } from './remedy.ts';
import { SavingCircle } from './saving-circle.entity.ts';
import { circleLaw, minimumMembers } from './saving-circle.ts';
import { lastHourForMembers } from './start-date.ts';

/** Maximum ids of missing members that the workflow gets, besides their number. */
const missingTold = 20;

/** A circle's progress, and the input of a step: its places and its open round. */
export interface Look {
  progress: CircleProgress;
  places: Position[];
  round: CircleRound | null;
}

/** Returns the circle's progress. Throws NOT_FOUND. */
export async function findProgress(em: EntityManager, circleId: string): Promise<CircleProgress> {
  const circle = await em.findOne(SavingCircle, { id: circleId }, { refresh: true });
  return (await lookAt(em, circle ?? refuseUnknownCircle())).progress;
}

/** As `findProgress`, for a circle already read; also returns the input of a step. */
export async function lookAt(em: EntityManager, circle: SavingCircle): Promise<Look> {
  const { id, status, amount, current_turn: turn, next_opens_at } = circle;
  if (isFinal(circleLaw, status)) return { progress: { phase: 'ended', status }, places: [], round: null };
  const positions = await findPositions(em, id);
  const places = positions.filter(({ excluded_turn }) => excluded_turn === null);
  // If a place ends before its turn, later turns move up.
  const lastTurn = positions.filter(({ turn_number }) => turn_number !== null).length;
  const standing = { members: places.length, amount, turn, lastTurn };
  if (status === 'new') {
    const at = places.length < minimumMembers ? lastHourForMembers(circle) : circle.starts_at;
    const next = { step: 'start' as const, at: at.toISOString() };
    return { progress: { phase: 'waiting for its start', next, ...standing }, places, round: null };
  }
  if (next_opens_at) {
    const next = { step: 'open round' as const, at: next_opens_at.toISOString() };
    return { progress: { phase: 'between rounds', next, ...standing }, places, round: null };
  }
  const round = await em.findOneOrFail(CircleRound, { saving_circle_id: id, turn_number: turn }, { refresh: true });
  const facts: RoundFacts = {
    rule: circle.on_default ?? null,
    graceDays: circle.grace_days ?? 0,
    dueAt: round.due_at.toISOString(),
    isReminded: Boolean(round.reminded_at),
    isOverdueReported: Boolean(round.overdue_reported_at),
    isDefaulted: Boolean(round.defaulted_at),
    remediedAt: round.remedied_at?.toISOString() ?? null,
    remedy: remedyOf(circle.on_default ?? 'wait', amount, places),
    hasOrders: places.some(({ has_order }) => has_order),
    hasStandingOrders: (await findDueOrders(em, id, { limit: 1 })).length > 0,
  };
  const missing = places.filter(({ has_paid }) => !has_paid);
  const receiver = positions.find(({ member_id }) => member_id === round.receiver_member_id);
  const open = {
    receiverUserId: must(receiver, 'a round has a receiver').user_id,
    missing: missing.length,
    missingUserIds: missing.slice(0, missingTold).map(({ user_id }) => user_id),
    facts,
  };
  const next =
    missing.length === 0 ? { step: 'pay the pot' as const, at: new Date(0).toISOString() } : nextOfRound(facts);
  return { progress: { phase: 'collecting', round: open, next, ...standing }, places, round };
}

/**
 * Finds standing orders not yet tried for the open round, for exactly the amount due (the first time with the
 * guarantee).
 */
export const findDueOrders = (
  em: EntityManager,
  circleId: string,
  { limit, memberId = null }: { limit: number; memberId?: string | null },
): Promise<Debit[]> =>
  em.execute<Debit[]>(
    `select o.id as "memberId", o.source_account_id as "sourceAccountId", c.current_turn as turn
     from saving_circles c
     join saving_circle_members m on m.saving_circle_id = c.id and m.excluded_turn is null
     join saving_circle_standing_orders o on o.id = m.id and o.attempted_turn is distinct from c.current_turn
     where c.id = ? and c.status = 'active' and c.next_opens_at is null and o.id = coalesce(?::uuid, o.id)
       and o.amount = c.amount and (c.amount * coalesce(c.guarantee_percent, 0) / 100 in (0, o.guarantee_amount)
         or exists (select from saving_circle_contributions g
           where g.member_id = o.id and g.status = 'completed' and g.guarantee_amount > 0))
     limit ?`,
    [circleId, memberId, limit],
  );

/** A payment that a member agreed to in advance. */
export interface Debit {
  memberId: string;
  /** The only turn to pay for. */
  turn: number;
  /** Null means the account with which the member joined. */
  sourceAccountId: string | null;
}
