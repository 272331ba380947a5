import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../platform/database/database-clock.ts';
import { must } from '../shared/assert.ts';
import { addIntervals } from '../shared/clock.ts';
import { recordChange, takeStep } from './change-circle.ts';
import type { CircleProgress, CircleStep } from './circle-contract.ts';
import { CircleMember } from './circle-member.entity.ts';
import { CircleRound } from './circle-round.entity.ts';
import type { SavingCircle } from './saving-circle.entity.ts';

/** A round opened later than this has cost members that much time, so its interval counts from the actual opening. */
const lateOpeningMs = 60 * 60 * 1000;

/** The opening time of a round planned for `planned`: that time, unless it is opened much later. */
export const openingInstant = (planned: Date, now: Date): Date =>
  now.getTime() - planned.getTime() > lateOpeningMs ? now : planned;

/** Opens the round of the circle's current turn, in the caller's transaction, under the circle's lock. */
export async function openRoundOf(tx: EntityManager, circle: SavingCircle, openedAt: Date): Promise<void> {
  const receiver = await tx.findOneOrFail(CircleMember, {
    saving_circle_id: circle.id,
    turn_number: circle.current_turn,
  });
  const anchor = must(circle.schedule_anchor, 'a started circle has a schedule');
  tx.create(CircleRound, {
    saving_circle_id: circle.id,
    turn_number: circle.current_turn,
    receiver_member_id: receiver.id,
    opened_at: openedAt,
    due_at: addIntervals(anchor, circle.round_interval, circle.schedule_step + 1),
  });
  circle.next_opens_at = null;
  await tx.flush();
}

/** Opens the next round if its time has come at `at`; otherwise changes nothing. Returns the circle's progress. */
export const openRound = (em: EntityManager, { circleId, at }: CircleStep): Promise<CircleProgress> =>
  takeStep(em, circleId, async (tx, circle) => {
    const now = new Date(at);
    if (circle.status !== 'active' || !circle.next_opens_at || circle.next_opens_at > now) return;
    const openedAt = openingInstant(circle.next_opens_at, now);
    if (openedAt.getTime() !== circle.next_opens_at.getTime()) {
      circle.schedule_anchor = openedAt;
      circle.schedule_step = 0;
    }
    circle.updated_at = await readDatabaseClock(tx);
    await openRoundOf(tx, circle, openedAt);
    await recordChange(tx, circleId, { round: 'opened', turn_number: circle.current_turn });
  });
