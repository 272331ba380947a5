import type { EntityManager } from '@mikro-orm/postgresql';
import { tell } from '../people/mail/tell.ts';
import { readDatabaseClock } from '../platform/database/database-clock.ts';
import { recordEvents } from '../platform/events/record-event.ts';
import { textArray } from '../shared/postgres.ts';
import { recordChange } from './change-circle.ts';
import type { Position } from './find-positions.ts';
import { complete, type OpenRound, payPot } from './pay-round.ts';
import { coversOf, type Remedy } from './remedy.ts';
import type { SavingCircle } from './saving-circle.entity.ts';

/** What is recorded of members whose contribution is missing, how they are told, and where it is noted. */
const reports = {
  remind: { event: 'CONTRIBUTION_DUE', kind: 'circle_due', noted: 'reminded_at' },
  'report overdue': { event: 'CONTRIBUTION_OVERDUE', kind: 'circle_overdue', noted: 'overdue_reported_at' },
  'settle default': { event: 'MEMBER_DEFAULTED', kind: 'circle_default', noted: 'defaulted_at' },
} as const;

/** Records one event per member whose contribution to the round is missing, once, and writes to them. */
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

/**
 * Applies the terms to a round whose members are in default: covered, or without the defaulters, the pot is paid in the
 * same transaction. Members who have received are debited by a step of its own.
 */
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

/** Ends the places of who has not paid and moves later turns up. Returns whose turn it is then, if anybody is left. */
async function exclude(tx: EntityManager, { circle, places }: OpenRound): Promise<string | undefined> {
  const turn = circle.current_turn;
  const idsOf = (members: readonly Position[]) => members.map(({ member_id }) => member_id);
  const excluded = idsOf(places.filter(({ has_paid }) => !has_paid));
  const later = idsOf(places.filter(({ has_paid, has_received }) => has_paid && !has_received));
  // A turn is free before another member takes it.
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

/** The last receiver has lost their place: what was contributed for them is shared out with everything else. */
async function endWithoutReceiver(tx: EntityManager, circle: SavingCircle, now: Date): Promise<void> {
  circle.updated_at = await readDatabaseClock(tx);
  await complete(tx, circle, now);
  const { current_turn: turn_number, status } = circle;
  await recordChange(tx, circle.id, { round: 'ended', turn_number, status });
}
