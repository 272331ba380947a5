import type { EntityManager } from '@mikro-orm/postgresql';
import { tell } from '../people/mail/tell.ts';
import { readDatabaseClock } from '../platform/database/database-clock.ts';
import { must } from '../shared/assert.ts';
import { addIntervals } from '../shared/clock.ts';
import { failpoint } from '../shared/failpoint.ts';
import { journalKeys } from '../shared/ids.ts';
import { addMoney } from '../shared/money.ts';
import { recordChange } from './change-circle.ts';
import type { CircleRound } from './circle-round.entity.ts';
import type { Position } from './find-positions.ts';
import { payOutOfCircle } from './pay-out-of-circle.ts';
import type { SavingCircle } from './saving-circle.entity.ts';
import { holdForEnd, settleCircle } from './settle-circle.ts';

/** A circle's open round, with those who have a place in it, under the circle's lock. */
export interface OpenRound {
  circle: SavingCircle;
  round: CircleRound;
  places: readonly Position[];
}

/**
 * Pays the complete pot of the open round to the member whose turn it is: for each place its contribution, paid by its
 * member or covered. Journal, transaction row, the round's end and the next one's opening time (or the circle's end) in
 * the caller's transaction.
 */
export async function payPot(tx: EntityManager, { circle, round, places }: OpenRound, now: Date): Promise<void> {
  const receiver = must(
    places.find(({ member_id }) => member_id === round.receiver_member_id),
    'whose turn it is has a place',
  );
  const { member_id, user_id, account_id } = receiver;
  const { id: resourceId, current_turn: turn_number } = circle;
  const amount = addMoney(...places.map(() => circle.amount));
  const isLast = places.every((place) => place === receiver || place.has_received);
  if (isLast) await holdForEnd(tx, circle, [account_id]);
  const [journal_id] = await payOutOfCircle(tx, circle, {
    kind: 'saving-circle.paid-out',
    payouts: [
      {
        businessKey: journalKeys.circlePot(circle.id, turn_number),
        shares: [{ userId: user_id, accountId: account_id, amount }],
      },
    ],
  });
  await failpoint('pay-round.posted');
  Object.assign(round, { paid_at: now, amount, journal_id });
  circle.updated_at = await readDatabaseClock(tx);
  if (isLast) await complete(tx, circle, now);
  else planNext(circle, now);
  await tx.flush();
  await tell(tx, { kind: 'circle_pot', resourceId, turnNumber: turn_number, userIds: [user_id] });
  const { status } = circle;
  await recordChange(tx, circle.id, { round: 'paid', turn_number, amount, member_id, user_id, journal_id, status });
}

/** The next turn opens an interval after the last opening, or now if that is later. */
function planNext(circle: SavingCircle, now: Date): void {
  const anchor = must(circle.schedule_anchor, 'a started circle has a schedule');
  const planned = addIntervals(anchor, circle.round_interval, circle.schedule_step + 1);
  circle.current_turn += 1;
  if (now > planned) Object.assign(circle, { schedule_anchor: now, schedule_step: 0, next_opens_at: now });
  else Object.assign(circle, { schedule_step: circle.schedule_step + 1, next_opens_at: planned });
}

/** Completes the circle after its last turn: what it still holds is shared out. */
export async function complete(tx: EntityManager, circle: SavingCircle, now: Date): Promise<void> {
  circle.status = 'completed';
  circle.ended_at = now;
  await settleCircle(tx, circle);
}
