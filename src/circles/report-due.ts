import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '../events/record-event.ts';
import type { CircleProgress, CircleStep } from './circle-contract.ts';
import { CircleRound } from './circle-round.entity.ts';
import { nextOfRound } from './default.ts';
import { factsOf, findPlaces, findProgress } from './find-progress.ts';
import { lockCircle } from './lock-circle.ts';

/**
 * From a day before the open round's interval ends, at `at`: records one event CONTRIBUTION_DUE per member whose
 * contribution is missing, once. Returns the circle's progress.
 */
export async function reportDue(em: EntityManager, { circleId, at }: CircleStep): Promise<CircleProgress> {
  const now = new Date(at);
  await em.transactional(async (tx) => {
    const circle = await lockCircle(tx, circleId);
    if (circle.status !== 'active' || circle.next_opens_at) return;
    const turn = circle.current_turn;
    const round = await tx.findOneOrFail(CircleRound, { saving_circle_id: circleId, turn_number: turn });
    const places = await findPlaces(tx, circle);
    const next = nextOfRound(factsOf(circle, round, places));
    if (next?.step !== 'remind' || Date.parse(next.at) > now.getTime()) return;
    round.reminded_at = now;
    for (const { memberId, userId } of places.filter(({ hasPaid }) => !hasPaid)) {
      await recordEvent(tx, {
        event: 'CONTRIBUTION_DUE',
        resourceType: 'saving_circle',
        resourceId: circleId,
        actorId: null,
        requestId: null,
        data: { turn_number: turn, member_id: memberId, user_id: userId, due_at: round.due_at.toISOString() },
      });
    }
  });
  return findProgress(em.fork(), circleId);
}
