import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../platform/database/database-clock.ts';
import { forEachOf } from '../shared/concurrency.ts';
import { failpoint } from '../shared/failpoint.ts';
import { lockCircle, recordChange } from './change-circle.ts';
import type { CircleProgress, CircleStep } from './circle-contract.ts';
import { nextOfRound } from './default.ts';
import { factsOf, findProgress, type Place } from './find-progress.ts';
import { complete, payPot } from './pay-round.ts';
import { type Cover, closeUp, coversOf, type Remedy, remedyOf } from './remedy.ts';
import { type LockedRound, readOpenRound, reportMissing } from './report-missing.ts';
import type { SavingCircle } from './saving-circle.entity.ts';
import { payForMember } from './standing-orders.ts';
import { termsOf } from './terms.ts';

/**
 * When contributions are still missing after the grace days at `at`: records one event MEMBER_DEFAULTED per member who
 * has not paid, once, and applies the terms: covered, or without the defaulters, the pot is paid in the same
 * transaction; members who have received are debited, each in a transaction of its own. While an order is open the round
 * waits, and nobody is in default. Returns the circle's progress.
 */
export async function settleDefault(em: EntityManager, { circleId, at }: CircleStep): Promise<CircleProgress> {
  const now = new Date(at);
  await failpoint('settle-default.before');
  let turn = 0;
  let debited: string[] = [];
  await em.transactional(async (tx) => {
    const open = await readOpenRound(tx, await lockCircle(tx, circleId));
    const terms = open === null ? null : termsOf(open.circle);
    if (open === null || terms === null) return;
    const { circle, round, places } = open;
    const next = nextOfRound(factsOf(circle, round, places));
    if (next?.step !== 'settle default' || Date.parse(next.at) > now.getTime()) return;
    if (places.every(({ hasPaid }) => hasPaid)) return;
    const remedy = remedyOf(terms.on_default, circle.amount, places);
    if (!round.defaulted_at) await reportMissing(tx, open, 'MEMBER_DEFAULTED', { on_default: circle.on_default });
    round.defaulted_at ??= now;
    // Members are debited after this transaction, and that is noted after it was tried, so that an interrupted try is
    // repeated.
    if (remedy.kind !== 'debit') round.remedied_at = now;
    else [turn, debited] = [circle.current_turn, remedy.members];
    await tx.flush();
    await remedyNow(tx, open, { remedy, now });
  });
  await failpoint('settle-default.settled');
  await forEachOf(debited, (memberId) => payForMember(em.fork(), { circleId, memberId, turn, sourceAccountId: null }));
  if (debited.length > 0) {
    await failpoint('settle-default.debited');
    await em.execute('update saving_circle_rounds set remedied_at = ? where saving_circle_id = ? and turn_number = ?', [
      now,
      circleId,
      turn,
    ]);
  }
  await failpoint('settle-default.after');
  return findProgress(em.fork(), circleId);
}

async function remedyNow(
  tx: EntityManager,
  { circle, round, places }: LockedRound,
  { remedy, now }: { remedy: Remedy; now: Date },
): Promise<void> {
  if (remedy.kind === 'cover') {
    await writeCovers(tx, circle, coversOf(circle.amount, places));
    await payPot(tx, circle, now);
  } else if (remedy.kind === 'exclude') {
    const receiver = await exclude(tx, circle, { excluded: remedy.members, places });
    if (receiver === null) return endWithoutReceiver(tx, circle, now);
    round.receiver_member_id = receiver;
    await tx.flush();
    await payPot(tx, circle, now);
  }
}

async function writeCovers(tx: EntityManager, circle: SavingCircle, covers: readonly Cover[]): Promise<void> {
  await tx.execute(
    `insert into saving_circle_covers
       (saving_circle_id, turn_number, debtor_member_id, guarantor_member_id, amount)
     select ?, ?, * from jsonb_to_recordset(?::jsonb) as cover (debtor uuid, guarantor uuid, amount numeric)`,
    [circle.id, circle.current_turn, JSON.stringify(covers)],
  );
}

/** Ends places and moves later turns up. Returns whose turn it is then; null when nobody is left to receive. */
async function exclude(
  tx: EntityManager,
  circle: SavingCircle,
  { excluded, places }: { excluded: readonly string[]; places: readonly Place[] },
): Promise<string | null> {
  const turns = closeUp(places, { currentTurn: circle.current_turn, excluded });
  const before = new Map(places.map(({ memberId, turn }) => [memberId, turn]));
  const moved = turns.filter(({ memberId, turn }) => before.get(memberId) !== turn);
  await tx.execute('update saving_circle_members set excluded_turn = ? where id = any (?::uuid[])', [
    circle.current_turn,
    `{${excluded.join(',')}}`,
  ]);
  // A turn is free before another member takes it.
  await tx.execute('update saving_circle_members set turn_number = null where id = any (?::uuid[])', [
    `{${moved.map(({ memberId }) => memberId).join(',')}}`,
  ]);
  await tx.execute(
    `update saving_circle_members m set turn_number = moved.turn
     from jsonb_to_recordset(?::jsonb) as moved ("memberId" uuid, turn integer) where m.id = moved."memberId"`,
    [JSON.stringify(moved)],
  );
  return turns.find(({ turn }) => turn === circle.current_turn)?.memberId ?? null;
}

/** The last receiver has lost their place: what was contributed for them is shared out with everything else. */
async function endWithoutReceiver(tx: EntityManager, circle: SavingCircle, now: Date): Promise<void> {
  circle.updated_at = await readDatabaseClock(tx);
  await complete(tx, circle, now);
  const { current_turn: turn_number, status } = circle;
  await recordChange(tx, circle.id, { round: 'ended', turn_number, status });
}
