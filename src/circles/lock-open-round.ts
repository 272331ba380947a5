import type { EntityManager } from '@mikro-orm/postgresql';
import { tell } from '../people/mail/tell.ts';
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

/** How members are told of it. */
const mailOf = {
  CONTRIBUTION_DUE: 'circle_due',
  CONTRIBUTION_OVERDUE: 'circle_overdue',
  MEMBER_DEFAULTED: 'circle_default',
} as const;

/** Records one event per member whose contribution to the round is missing, and writes to them; `data` is added to each. */
export async function reportMissing(
  tx: EntityManager,
  { circle, places }: Pick<LockedRound, 'circle' | 'places'>,
  event: keyof typeof mailOf,
  data: object,
): Promise<void> {
  const missing = places.filter(({ hasPaid }) => !hasPaid);
  const userIds = missing.map(({ userId }) => userId);
  await tell(tx, { kind: mailOf[event], resourceId: circle.id, turnNumber: circle.current_turn, userIds });
  await recordEvents(
    tx,
    missing.map(({ memberId, userId }) => ({
      event,
      resourceType: 'saving_circle',
      resourceId: circle.id,
      actorId: null,
      requestId: null,
      data: { turn_number: circle.current_turn, member_id: memberId, user_id: userId, ...data },
    })),
  );
}
