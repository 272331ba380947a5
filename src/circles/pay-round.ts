import type { EntityManager } from '@mikro-orm/postgresql';
import { tell } from '../people/mail/tell.ts';
import { readDatabaseClock } from '../platform/database/database-clock.ts';
import { must } from '../shared/assert.ts';
import { addIntervals } from '../shared/clock.ts';
import { failpoint } from '../shared/failpoint.ts';
import { journalKeys } from '../shared/ids.ts';
import type { Money } from '../shared/money.ts';
import { recordChange } from './change-circle.ts';
import { CircleMember } from './circle-member.entity.ts';
import { CircleRound } from './circle-round.entity.ts';
import { payOutOfCircle } from './pay-out-of-circle.ts';
import type { SavingCircle } from './saving-circle.entity.ts';
import { holdForEnd, settleCircle } from './settle-circle.ts';

/**
 * Pays the complete pot of the open round to the member whose turn it is: contributions, and what guarantees cover.
 * Journal, transaction row, the round's end and the next one's opening time (or the circle's end) in the caller's
 * transaction, under the circle's lock.
 */
export async function payPot(tx: EntityManager, circle: SavingCircle, now: Date): Promise<void> {
  const turn = circle.current_turn;
  const round = await tx.findOneOrFail(CircleRound, { saving_circle_id: circle.id, turn_number: turn });
  const receiver = await tx.findOneOrFail(CircleMember, { id: round.receiver_member_id });
  const pot = await potOf(tx, circle.id, turn);
  if (await isLast(tx, circle)) await holdForEnd(tx, circle, [receiver.account_id]);
  const { id: member_id, user_id, account_id } = receiver;
  const [journal_id] = await payOutOfCircle(tx, circle, {
    kind: 'saving-circle.paid-out',
    payouts: [
      {
        businessKey: journalKeys.circlePot(circle.id, turn),
        shares: [{ userId: user_id, accountId: account_id, amount: pot }],
      },
    ],
  });
  await failpoint('pay-round.posted');
  Object.assign(round, { paid_at: now, amount: pot, journal_id });
  await moveOn(tx, circle, now);
  await tx.flush();
  await tell(tx, { kind: 'circle_pot', resourceId: circle.id, turnNumber: turn, userIds: [user_id] });
  const { status } = circle;
  const paid = { round: 'paid', turn_number: turn, amount: pot, member_id, user_id, journal_id, status };
  await recordChange(tx, circle.id, paid);
}

/** Whether the current turn is the last: later turns move up when a place ends before its turn. */
const isLast = async (tx: EntityManager, { id, current_turn }: SavingCircle): Promise<boolean> =>
  (await tx.count(CircleMember, { saving_circle_id: id, turn_number: { $gt: current_turn } })) === 0;

async function potOf(tx: EntityManager, circleId: string, turn: number): Promise<Money> {
  const rows = await tx.execute<{ pot: Money }[]>(
    `select sum(amount)::numeric(20, 4)::text as pot from (
       select amount from saving_circle_contributions
         where saving_circle_id = ? and turn_number = ? and status = 'completed'
       union all
       select amount from saving_circle_covers where saving_circle_id = ? and turn_number = ?) brought`,
    [circleId, turn, circleId, turn],
  );
  return must(rows[0]?.pot, 'a round without missing contributions has a pot');
}

/** After a payout at `now`: the end, or the next turn, an interval after the last opening, or now if that is later. */
async function moveOn(tx: EntityManager, circle: SavingCircle, now: Date): Promise<void> {
  circle.updated_at = await readDatabaseClock(tx);
  if (await isLast(tx, circle)) return complete(tx, circle, now);
  const anchor = must(circle.schedule_anchor, 'a started circle has a schedule');
  const planned = addIntervals(anchor, circle.round_interval, circle.schedule_step + 1);
  circle.current_turn += 1;
  if (now > planned) {
    circle.schedule_anchor = now;
    circle.schedule_step = 0;
    circle.next_opens_at = now;
  } else {
    circle.schedule_step += 1;
    circle.next_opens_at = planned;
  }
}

/** Completes the circle after its last turn: what it still holds is shared out. */
export async function complete(tx: EntityManager, circle: SavingCircle, now: Date): Promise<void> {
  circle.status = 'completed';
  circle.ended_at = now;
  await settleCircle(tx, circle);
}
