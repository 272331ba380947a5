import type { EntityManager } from '@mikro-orm/postgresql';
import { tell } from '../people/mail/tell.ts';
import { readDatabaseClock } from '../platform/database/database-clock.ts';
import { recordEvents } from '../platform/events/record-event.ts';
import { must } from '../shared/assert.ts';
import { addIntervals } from '../shared/clock.ts';
import { failpoint } from '../shared/failpoint.ts';
import { journalKeys } from '../shared/ids.ts';
import { addMoney } from '../shared/money.ts';
import { textArray } from '../shared/postgres.ts';
import { recordChange } from './change-circle.ts';
import { CircleReplacement } from './circle-replacement.entity.ts';
import type { CircleRound } from './circle-round.entity.ts';
import type { Position } from './find-positions.ts';
import { holdForEnd, payOutOfCircle, settleCircle } from './pay-out-of-circle.ts';
import { coversOf, type Remedy } from './remedy.ts';
import type { SavingCircle } from './saving-circle.entity.ts';

export interface OpenRound {
  circle: SavingCircle;
  round: CircleRound;
  places: readonly Position[];
}

/**
 * Pays the open round's pot, one contribution per place, paid or covered, to the member whose turn it is. Ends the
 * round and schedules the next or completes the circle, in the caller's transaction.
 */
export async function payPot(tx: EntityManager, { circle, round, places }: OpenRound, now: Date): Promise<void> {
  const receiver = must(
    places.find(({ member_id }) => member_id === round.receiver_member_id),
    'the receiver has a place',
  );
  const { member_id, user_id, account_id } = receiver;
  const { id: resourceId, current_turn: turn_number } = circle;
  const amount = addMoney(...places.map(() => circle.amount));
  const isLast = places.every((place) => place === receiver || place.has_received);
  if (isLast) await holdForEnd(tx, circle, [account_id]);
  const [journal_id] = await payOutOfCircle(tx, circle, {
    kind: 'saving-circle.paid-out',
    payouts: [
      { businessKey: journalKeys.circlePot(circle.id, turn_number), shares: [{ user_id, account_id, amount }] },
    ],
  });
  await failpoint('pay-round.posted');
  Object.assign(round, { paid_at: now, amount, journal_id });
  circle.updated_at = await readDatabaseClock(tx);
  if (isLast) await complete(tx, circle, now);
  else planNext(circle, now);
  await tx.flush();
  await lapseAgreements(tx, [receiver, ...places.filter(({ has_paid }) => !has_paid)], circle.updated_at);
  await tell(tx, { kind: 'circle_pot', resourceId, turnNumber: turn_number, userIds: [user_id] });
  const { status } = circle;
  await recordChange(tx, circle.id, { round: 'paid', turn_number, amount, member_id, user_id, journal_id, status });
}

/**
 * Ends the agreements to open replacements for these places, which now owe more: nobody may take over what they did not
 * agree to.
 */
async function lapseAgreements(tx: EntityManager, places: readonly Position[], updated_at: Date): Promise<void> {
  const open = { member_id: { $in: places.map(({ member_id }) => member_id) }, status: 'pending' as const };
  await tx.nativeUpdate(CircleReplacement, open, { left_at: null, joined_at: null, updated_at });
}

/** Schedules the next turn: an interval after the last opening, or now if that is later. */
function planNext(circle: SavingCircle, now: Date): void {
  const anchor = must(circle.schedule_anchor, 'a started circle has a schedule');
  const planned = addIntervals(anchor, circle.round_interval, circle.schedule_step + 1);
  circle.current_turn += 1;
  if (now > planned) Object.assign(circle, { schedule_anchor: now, schedule_step: 0, next_opens_at: now });
  else Object.assign(circle, { schedule_step: circle.schedule_step + 1, next_opens_at: planned });
}

/** Completes the circle after its last turn and distributes its balance. */
export async function complete(tx: EntityManager, circle: SavingCircle, now: Date): Promise<void> {
  circle.status = 'completed';
  circle.ended_at = now;
  await settleCircle(tx, circle);
}

/** Event, e-mail and timestamp column for each report of a missing contribution. */
const reports = {
  remind: { event: 'CONTRIBUTION_DUE', kind: 'circle_due', noted: 'reminded_at' },
  'report overdue': { event: 'CONTRIBUTION_OVERDUE', kind: 'circle_overdue', noted: 'overdue_reported_at' },
  'settle default': { event: 'MEMBER_DEFAULTED', kind: 'circle_default', noted: 'defaulted_at' },
} as const;

/** Records an event and an e-mail for each member whose contribution to the round is missing. */
export async function reportMissing(
  tx: EntityManager,
  { circle, round, places }: OpenRound,
  step: keyof typeof reports,
  now: Date,
): Promise<void> {
  const { event, kind, noted } = reports[step];
  if (round[noted]) return;
  round[noted] = now;
  await tx.flush();
  const { id: resourceId, current_turn: turn_number, on_default } = circle;
  const missing = places.filter(({ has_paid }) => !has_paid);
  const userIds = missing.map(({ user_id }) => user_id);
  await tell(tx, { kind, resourceId, turnNumber: turn_number, userIds });
  const why = step === 'settle default' ? { on_default } : { due_at: round.due_at.toISOString() };
  await recordEvents(
    tx,
    missing.map(({ member_id, user_id }) => ({
      event,
      resourceType: 'saving_circle',
      resourceId,
      actorId: null,
      requestId: null,
      data: { turn_number, member_id, user_id, ...why },
    })),
  );
}

/** Applies the terms to a default: covers it or excludes the defaulters, then pays the pot. Debits are another step. */
export async function settleDefault(tx: EntityManager, open: OpenRound, remedy: Remedy, now: Date): Promise<void> {
  const { circle, round, places } = open;
  if (remedy === 'cover') {
    await tx.execute(
      `insert into saving_circle_covers
         (saving_circle_id, turn_number, debtor_member_id, guarantor_member_id, amount)
       select ?, ?, * from jsonb_to_recordset(?::jsonb) as cover (debtor uuid, guarantor uuid, amount numeric)`,
      [circle.id, circle.current_turn, JSON.stringify(coversOf(circle.amount, places))],
    );
    await payPot(tx, open, now);
  } else if (remedy === 'exclude') {
    const receiver = await exclude(tx, open);
    if (receiver === undefined) return endWithoutReceiver(tx, circle, now);
    round.receiver_member_id = receiver;
    await tx.flush();
    await payPot(tx, { circle, round, places: places.filter(({ has_paid }) => has_paid) }, now);
  }
}

/** Excludes members who have not paid and moves later turns up. Returns the member whose turn it then is, if any. */
async function exclude(tx: EntityManager, { circle, places }: OpenRound): Promise<string | undefined> {
  const turn = circle.current_turn;
  const idsOf = (members: readonly Position[]) => members.map(({ member_id }) => member_id);
  const excluded = idsOf(places.filter(({ has_paid }) => !has_paid));
  const later = idsOf(places.filter(({ has_paid, has_received }) => has_paid && !has_received));
  // Free a turn before another member takes it.
  await tx.execute(
    `update saving_circle_members set turn_number = case when turn_number < ? then turn_number end,
       excluded_turn = case when id = any(?::uuid[]) then ?::integer end where id = any(?::uuid[])`,
    [turn, textArray(excluded), turn, textArray([...excluded, ...later])],
  );
  await tx.execute(
    `update saving_circle_members m set turn_number = ? + place - 1
     from unnest(?::uuid[]) with ordinality as later (id, place) where m.id = later.id`,
    [turn, textArray(later)],
  );
  return later[0];
}

/** Ends a circle whose last receiver has lost their place: distributes the contributions to their pot with the rest. */
async function endWithoutReceiver(tx: EntityManager, circle: SavingCircle, now: Date): Promise<void> {
  circle.updated_at = await readDatabaseClock(tx);
  await complete(tx, circle, now);
  const { current_turn: turn_number, status } = circle;
  await recordChange(tx, circle.id, { round: 'ended', turn_number, status });
}
