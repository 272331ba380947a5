import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '../events/record-event.ts';
import type { CircleProgress, CircleStep } from './circle-contract.ts';
import { CircleRound } from './circle-round.entity.ts';
import { findPlaces, findProgress } from './find-progress.ts';
import { lockCircle } from './lock-circle.ts';

/**
 * When the open round is past its interval at `at`: records one event CONTRIBUTION_OVERDUE per member whose
 * contribution is missing, once. The round stays open. Returns the circle's progress.
 */
export async function reportOverdue(em: EntityManager, { circleId, at }: CircleStep): Promise<CircleProgress> {
  const now = new Date(at);
  await em.transactional(async (tx) => {
    const circle = await lockCircle(tx, circleId);
    if (circle.status !== 'active' || circle.next_opens_at) return;
    const turn = circle.current_turn;
    const round = await tx.findOneOrFail(CircleRound, { saving_circle_id: circleId, turn_number: turn });
    if (round.due_at > now || round.overdue_reported_at) return;
    round.overdue_reported_at = now;
    for (const { memberId, userId } of (await findPlaces(tx, circle)).filter(({ hasPaid }) => !hasPaid)) {
      await recordEvent(tx, {
        event: 'CONTRIBUTION_OVERDUE',
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
