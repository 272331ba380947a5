import type { EntityManager } from '@mikro-orm/postgresql';
import { tell } from '../people/mail/tell.ts';
import { recordEvents } from '../platform/events/record-event.ts';
import { takeStep } from './change-circle.ts';
import type { CircleProgress, CircleStep } from './circle-contract.ts';
import { CircleRound } from './circle-round.entity.ts';
import { dayMs } from './default.ts';
import { findPlaces, type Place } from './find-progress.ts';
import type { SavingCircle } from './saving-circle.entity.ts';

/** A circle's open round, under the circle's lock. */
export interface LockedRound {
  circle: SavingCircle;
  round: CircleRound;
  places: Place[];
}

/** The open round of a circle, which is locked; null when no round is open. */
export async function readOpenRound(tx: EntityManager, circle: SavingCircle): Promise<LockedRound | null> {
  if (circle.status !== 'active' || circle.next_opens_at) return null;
  const at = { saving_circle_id: circle.id, turn_number: circle.current_turn };
  return { circle, round: await tx.findOneOrFail(CircleRound, at), places: await findPlaces(tx, circle) };
}

/**
 * From a day before the open round's interval ends, at `at`: records one event CONTRIBUTION_DUE per member whose
 * contribution is missing, once. Returns the circle's progress.
 */
export const reportDue = (em: EntityManager, step: CircleStep): Promise<CircleProgress> =>
  report(em, step, { event: 'CONTRIBUTION_DUE', noted: 'reminded_at', beforeMs: dayMs });

/**
 * When the open round is past its interval at `at`: records one event CONTRIBUTION_OVERDUE per member whose
 * contribution is missing, once. The round stays open. Returns the circle's progress.
 */
export const reportOverdue = (em: EntityManager, step: CircleStep): Promise<CircleProgress> =>
  report(em, step, { event: 'CONTRIBUTION_OVERDUE', noted: 'overdue_reported_at', beforeMs: 0 });

const report = (
  em: EntityManager,
  { circleId, at }: CircleStep,
  { event, noted, beforeMs }: { event: MissingEvent; noted: 'reminded_at' | 'overdue_reported_at'; beforeMs: number },
): Promise<CircleProgress> =>
  takeStep(em, circleId, async (tx, circle) => {
    const open = await readOpenRound(tx, circle);
    const now = new Date(at);
    if (open === null || open.round[noted] || open.round.overdue_reported_at) return;
    if (open.round.due_at.getTime() - beforeMs > now.getTime()) return;
    open.round[noted] = now;
    await reportMissing(tx, open, event, { due_at: open.round.due_at.toISOString() });
  });

/** How members are told of it. */
const mailOf = {
  CONTRIBUTION_DUE: 'circle_due',
  CONTRIBUTION_OVERDUE: 'circle_overdue',
  MEMBER_DEFAULTED: 'circle_default',
} as const;
type MissingEvent = keyof typeof mailOf;

/** Records one event per member whose contribution to the round is missing, and writes to them; `data` is added to each. */
export async function reportMissing(
  tx: EntityManager,
  { circle, places }: Pick<LockedRound, 'circle' | 'places'>,
  event: MissingEvent,
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
