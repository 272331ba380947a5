import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../platform/database/database-clock.ts';
import { must } from '../shared/assert.ts';
import { addIntervals } from '../shared/clock.ts';
import { recordChange } from './change-circle.ts';
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

/** Opens the next round, whose time has come at `now`, in the caller's transaction, under the circle's lock. */
export async function openRound(tx: EntityManager, circle: SavingCircle, now: Date): Promise<void> {
  const planned = must(circle.next_opens_at, 'it is known when the next round opens');
  const openedAt = openingInstant(planned, now);
  if (openedAt.getTime() !== planned.getTime()) Object.assign(circle, { schedule_anchor: openedAt, schedule_step: 0 });
  circle.updated_at = await readDatabaseClock(tx);
  await openRoundOf(tx, circle, openedAt);
  await recordChange(tx, circle.id, { round: 'opened', turn_number: circle.current_turn });
}
