import type { EntityManager } from '@mikro-orm/postgresql';
import { must } from '../shared/assert.ts';
import { refuse } from '../shared/errors.ts';
import { isFinal } from '../shared/status-law.ts';
import type { CircleProgress, OpenRound } from './circle-contract.ts';
import { CircleMember } from './circle-member.entity.ts';
import { CircleRound } from './circle-round.entity.ts';
import type { RoundFacts } from './default.ts';
import { type PlaceInRound, type Remedy, remedyOf } from './remedy.ts';
import { SavingCircle } from './saving-circle.entity.ts';
import { circleLaw, minimumMembers } from './saving-circle.ts';
import { lastHourForMembers } from './start-date.ts';
import { termsOf } from './terms.ts';

/** How many of the missing members the workflow gets by id; for the rest it gets only the number. */
const missingTold = 20;

/** The circle's progress. Throws NOT_FOUND when there is no such circle. */
export async function findProgress(em: EntityManager, circleId: string): Promise<CircleProgress> {
  const circle = await em.findOne(SavingCircle, { id: circleId }, { refresh: true });
  if (circle === null) refuse('NOT_FOUND', 'The saving circle was not found');
  if (isFinal(circleLaw, circle.status)) return { phase: 'ended', status: circle.status };
  const members = await em.count(CircleMember, { saving_circle_id: circleId, excluded_turn: null });
  const lastTurn = circle.status === 'new' ? members : await findLastTurn(em, circleId);
  const standing = { members, amount: circle.amount, turn: circle.current_turn, lastTurn };
  if (circle.status === 'new') {
    const startsAt = members < minimumMembers ? lastHourForMembers(circle) : circle.starts_at;
    return { phase: 'waiting for its start', startsAt: startsAt.toISOString(), ...standing };
  }
  if (circle.next_opens_at) {
    return { phase: 'between rounds', opensAt: circle.next_opens_at.toISOString(), ...standing };
  }
  return { phase: 'collecting', round: await findOpenRound(em, circle), ...standing };
}

/** The last turn of a started circle: later turns move up when a place ends before its turn. */
export const findLastTurn = (em: EntityManager, circleId: string): Promise<number> =>
  em.count(CircleMember, { saving_circle_id: circleId, turn_number: { $ne: null } });

async function findOpenRound(em: EntityManager, circle: SavingCircle): Promise<OpenRound> {
  const round = await em.findOneOrFail(
    CircleRound,
    { saving_circle_id: circle.id, turn_number: circle.current_turn },
    { refresh: true },
  );
  const receiver = await em.findOne(CircleMember, { id: round.receiver_member_id });
  const places = await findPlaces(em, circle);
  const missing = places.filter(({ hasPaid }) => !hasPaid);
  return {
    receiverUserId: must(receiver, 'a round has a receiver').user_id,
    missing: missing.length,
    missingUserIds: missing.slice(0, missingTold).map(({ userId }) => userId),
    facts: {
      ...factsOf(circle, round, places),
      hasStandingOrders: (await findDueOrders(em, circle.id, 1)).length > 0,
    },
  };
}

/** Standing orders that have not been tried for the open round, at most `limit`. */
export const findDueOrders = (em: EntityManager, circleId: string, limit: number): Promise<DueOrder[]> =>
  em.execute<DueOrder[]>(
    `select o.id as "memberId", o.source_account_id as "sourceAccountId", c.current_turn as turn
     from saving_circles c
     join saving_circle_members m on m.saving_circle_id = c.id and m.excluded_turn is null
     join saving_circle_standing_orders o on o.id = m.id and o.attempted_turn is distinct from c.current_turn
     where c.id = ? and c.status = 'active' and c.next_opens_at is null limit ?`,
    [circleId, limit],
  );

interface DueOrder {
  memberId: string;
  sourceAccountId: string;
  turn: number;
}

/** The facts that decide what is due next in a circle's open round. */
export function factsOf(circle: SavingCircle, round: CircleRound, places: readonly PlaceInRound[]): RoundFacts {
  const terms = termsOf(circle);
  const remedy: Remedy = terms === null ? { kind: 'wait' } : remedyOf(terms.on_default, circle.amount, places);
  return {
    rule: terms?.on_default ?? null,
    graceDays: terms?.grace_days ?? 0,
    dueAt: round.due_at.toISOString(),
    isReminded: Boolean(round.reminded_at),
    isOverdueReported: Boolean(round.overdue_reported_at),
    isDefaulted: Boolean(round.defaulted_at),
    remediedAt: round.remedied_at?.toISOString() ?? null,
    // Debits are tried once a day.
    canRemedy: remedy.kind === 'cover' || remedy.kind === 'exclude',
    hasOrders: places.some(({ hasOrder }) => hasOrder),
  };
}

export interface Place extends PlaceInRound {
  userId: string;
  turn: number;
}

const placesQuery = `
  select p.member_id as "memberId", p.user_id as "userId", p.turn_number as turn,
    p.turn_number < s.current_turn as "hasReceived", (p.guarantee - p.covered)::numeric(20, 4)::text as "guaranteeLeft",
    coalesce(c.status = 'completed', false) as "hasPaid", coalesce(c.status = 'pending', false) as "hasOrder"
  from saving_circle_positions p
  join saving_circles s on s.id = p.saving_circle_id
  left join saving_circle_contributions c on c.member_id = p.member_id and c.turn_number = s.current_turn
    and c.status in ('pending', 'completed')
  where p.saving_circle_id = ? and p.excluded_turn is null order by p.turn_number`;

/** The places in the round of the circle's current turn, in turn order. */
export const findPlaces = (em: EntityManager, { id }: SavingCircle): Promise<Place[]> =>
  em.execute<Place[]>(placesQuery, [id]);
