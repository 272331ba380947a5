import type { EntityManager } from '@mikro-orm/postgresql';
import { must } from '../shared/assert.ts';
import { refuse } from '../shared/errors.ts';
import { isFinal } from '../shared/status-law.ts';
import type { CircleProgress, OpenRound } from './circle-contract.ts';
import { CircleMember } from './circle-member.entity.ts';
import { CircleRound } from './circle-round.entity.ts';
import { SavingCircle } from './saving-circle.entity.ts';
import { circleLaw, minimumMembers } from './saving-circle.ts';
import { lastHourForMembers } from './start-date.ts';

/** How many of those who have not paid the workflow is told by name; the rest it is told the number of. */
const missingTold = 20;

/** Where the circle stands now. Refuses with NOT_FOUND when there is no such circle. */
export async function findProgress(em: EntityManager, circleId: string): Promise<CircleProgress> {
  const circle = await em.findOne(SavingCircle, { id: circleId }, { refresh: true });
  if (circle === null) refuse('NOT_FOUND', `no saving circle ${circleId}`);
  if (isFinal(circleLaw, circle.status)) return { phase: 'ended', status: circle.status };
  const members = await em.count(CircleMember, { saving_circle_id: circleId });
  const standing = { members, amount: circle.amount, turn: circle.current_turn, lastTurn: members };
  if (circle.status === 'new') {
    const startsAt = members < minimumMembers ? lastHourForMembers(circle) : circle.starts_at;
    return { phase: 'waiting for its start', startsAt: startsAt.toISOString(), ...standing };
  }
  if (circle.next_opens_at) {
    return { phase: 'between rounds', opensAt: circle.next_opens_at.toISOString(), ...standing };
  }
  return { phase: 'collecting', round: await findOpenRound(em, circle), ...standing };
}

async function findOpenRound(em: EntityManager, { id, current_turn }: SavingCircle): Promise<OpenRound> {
  const round = await em.findOneOrFail(
    CircleRound,
    { saving_circle_id: id, turn_number: current_turn },
    { refresh: true },
  );
  const receiver = await em.findOne(CircleMember, { id: round.receiver_member_id });
  const missing = await findMissing(em, id, current_turn);
  return {
    dueAt: round.due_at.toISOString(),
    overdueReported: Boolean(round.overdue_reported_at),
    receiverUserId: must(receiver, 'a round has a receiver').user_id,
    missing: missing.length,
    missingUserIds: missing.slice(0, missingTold).map(({ user_id }) => user_id),
  };
}

/** The members without a completed contribution for this turn, in the order of their turns. */
export function findMissing(
  em: EntityManager,
  circleId: string,
  turn: number,
): Promise<{ member_id: string; user_id: string }[]> {
  return em.execute(
    `select m.id as member_id, m.user_id from saving_circle_members m
     where m.saving_circle_id = ? and not exists (select from saving_circle_contributions c
       where c.saving_circle_id = m.saving_circle_id and c.user_id = m.user_id and c.turn_number = ?
         and c.status = 'completed')
     order by m.turn_number`,
    [circleId, turn],
  );
}
