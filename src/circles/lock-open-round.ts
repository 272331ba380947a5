import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvents } from '../platform/events/record-event.ts';
import { CircleRound } from './circle-round.entity.ts';
import { findPlaces, type Place } from './find-progress.ts';
import { lockCircle } from './lock-circle.ts';
import type { SavingCircle } from './saving-circle.entity.ts';

/** A circle's open round, under the circle's lock. */
export interface LockedRound {
  circle: SavingCircle;
  round: CircleRound;
  places: Place[];
}

/** The open round of a circle, which is locked until the transaction ends; null when no round is open. */
export async function lockOpenRound(tx: EntityManager, circleId: string): Promise<LockedRound | null> {
  const circle = await lockCircle(tx, circleId);
  if (circle.status !== 'active' || circle.next_opens_at) return null;
  const turn = circle.current_turn;
  const round = await tx.findOneOrFail(CircleRound, { saving_circle_id: circleId, turn_number: turn });
  return { circle, round, places: await findPlaces(tx, circle) };
}

/** Records one event per member whose contribution to the round is missing; `data` is added to each. */
export async function reportMissing(
  tx: EntityManager,
  { circle, places }: Pick<LockedRound, 'circle' | 'places'>,
  event: 'CONTRIBUTION_DUE' | 'CONTRIBUTION_OVERDUE' | 'MEMBER_DEFAULTED',
  data: object,
): Promise<void> {
  await recordEvents(
    tx,
    places
      .filter(({ hasPaid }) => !hasPaid)
      .map(({ memberId, userId }) => ({
        event,
        resourceType: 'saving_circle',
        resourceId: circle.id,
        actorId: null,
        requestId: null,
        data: { turn_number: circle.current_turn, member_id: memberId, user_id: userId, ...data },
      })),
  );
}
