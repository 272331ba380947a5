import type { EntityManager } from '@mikro-orm/postgresql';
import { postJournal, recordTransactions } from '../ledger/post-journal.ts';
import { tell } from '../people/mail/tell.ts';
import { readDatabaseClock } from '../platform/database/database-clock.ts';
import { recordEvent } from '../platform/events/record-event.ts';
import { must } from '../shared/assert.ts';
import { addIntervals } from '../shared/calendar.ts';
import { failpoint } from '../shared/failpoint.ts';
import { journalKeys } from '../shared/ids.ts';
import { type Money, negateMoney } from '../shared/money.ts';
import type { CircleProgress, CircleStep } from './circle-contract.ts';
import { CircleMember } from './circle-member.entity.ts';
import { CircleRound } from './circle-round.entity.ts';
import { findLastTurn, findPlaces, findProgress } from './find-progress.ts';
import { lockCircle } from './lock-circle.ts';
import type { SavingCircle } from './saving-circle.entity.ts';
import { holdForEnd, settleCircle } from './settle-circle.ts';

/**
 * Pays the whole pot of the open round to the member whose turn it is, once every member's contribution is completed:
 * journal, transaction row, the round's end and the next one's opening time (or the circle's end) in one transaction.
 * Changes nothing when the round is already paid or misses a contribution. Returns the circle's progress.
 */
export async function payRound(em: EntityManager, { circleId, at }: CircleStep): Promise<CircleProgress> {
  await failpoint('pay-round.before');
  await em.transactional(async (tx) => {
    const circle = await lockCircle(tx, circleId);
    if (circle.status !== 'active' || circle.next_opens_at) return;
    if ((await findPlaces(tx, circle)).some(({ hasPaid }) => !hasPaid)) return;
    await payPot(tx, circle, new Date(at));
  });
  await failpoint('pay-round.after');
  return findProgress(em.fork(), circleId);
}

/**
 * Pays the complete pot of the open round: contributions, and what guarantees cover. With everything that follows, in
 * the caller's transaction, under the circle's lock.
 */
export async function payPot(tx: EntityManager, circle: SavingCircle, now: Date): Promise<void> {
  const turn = circle.current_turn;
  const round = await tx.findOneOrFail(CircleRound, { saving_circle_id: circle.id, turn_number: turn });
  const receiver = await tx.findOneOrFail(CircleMember, { id: round.receiver_member_id });
  const pot = await potOf(tx, circle.id, turn);
  if (turn >= (await findLastTurn(tx, circle.id))) await holdForEnd(tx, circle, [receiver.account_id]);
  const journalId = await postPot(tx, circle, receiver, pot);
  await failpoint('pay-round.posted');
  round.paid_at = now;
  round.amount = pot;
  round.journal_id = journalId;
  await moveOn(tx, circle, now);
  await tx.flush();
  await tell(tx, { kind: 'circle_pot', resourceId: circle.id, turnNumber: turn, userIds: [receiver.user_id] });
  await recordEvent(tx, {
    event: 'RESOURCE_UPDATED',
    resourceType: 'saving_circle',
    resourceId: circle.id,
    actorId: null,
    requestId: null,
    data: {
      round: 'paid',
      turn_number: turn,
      amount: pot,
      member_id: receiver.id,
      user_id: receiver.user_id,
      journal_id: journalId,
      status: circle.status,
    },
  });
}

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

/** The journal of the pot and its one `price` row, whose user is the receiver (docs/contract.md 2). */
async function postPot(tx: EntityManager, circle: SavingCircle, receiver: CircleMember, pot: Money): Promise<string> {
  const journalId = must(
    await postJournal(tx, {
      kind: 'saving-circle.paid-out',
      businessKey: journalKeys.circlePot(circle.id, circle.current_turn),
      postings: [
        { accountId: circle.holding_account_id, amount: negateMoney(pot) },
        { accountId: receiver.account_id, amount: pot },
      ],
    }),
    'an open round has no payout journal',
  );
  const users = await tx.execute<{ organization_id: string | null }[]>(
    'select organization_id from users where id = ?',
    [receiver.user_id],
  );
  await recordTransactions(tx, journalId, [
    {
      userId: receiver.user_id,
      organizationId: users[0]?.organization_id ?? null,
      amount: pot,
      type: 'price',
      sourceAccountId: circle.holding_account_id,
      destinationAccountId: receiver.account_id,
      referenceType: 'saving_circle',
      referenceId: circle.id,
      purpose: 'internal_withdrawal',
      paymentOrderId: null,
      createdBy: null,
    },
  ]);
  return journalId;
}

/** After a payout at `now`: the end, or the next turn, an interval after the last opening, or now if that is later. */
async function moveOn(tx: EntityManager, circle: SavingCircle, now: Date): Promise<void> {
  circle.updated_at = await readDatabaseClock(tx);
  if (circle.current_turn >= (await findLastTurn(tx, circle.id))) return complete(tx, circle, now);
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
