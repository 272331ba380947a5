import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../database/database-clock.ts';
import { recordEvent } from '../events/record-event.ts';
import { failpoint } from '../shared/failpoint.ts';
import { cancelPendingContributions } from './cancel-pending.ts';
import type { CircleProgress, CircleStep } from './circle-contract.ts';
import { CircleMember } from './circle-member.entity.ts';
import { nextOfRound } from './default.ts';
import { factsOf, findProgress, type Place } from './find-progress.ts';
import { type LockedRound, lockOpenRound, reportMissing } from './lock-open-round.ts';
import { payForMember } from './pay-for-member.ts';
import { complete, payPot } from './pay-round.ts';
import { type Cover, closeUp, type Remedy, remedyOf } from './remedy.ts';
import type { SavingCircle } from './saving-circle.entity.ts';
import { termsOf } from './terms.ts';

/**
 * When contributions are still missing after the grace days at `at`: records one event MEMBER_DEFAULTED per member who
 * has not paid, once, and applies the terms: covered, or without the defaulters, the pot is paid in the same
 * transaction; members who have received are debited, each in a transaction of its own. Returns the circle's progress.
 */
export async function settleDefault(em: EntityManager, { circleId, at }: CircleStep): Promise<CircleProgress> {
  const now = new Date(at);
  await failpoint('settle-default.before');
  const { turn, debited } = await em.transactional(async (tx) => {
    const open = await lockOpenRound(tx, circleId);
    const terms = open === null ? null : termsOf(open.circle);
    if (open === null || terms === null) return nobody;
    const { circle, round, places } = open;
    const next = nextOfRound(factsOf(circle, round, places));
    if (next?.step !== 'settle default' || Date.parse(next.at) > now.getTime()) return nobody;
    if (places.every(({ hasPaid }) => hasPaid)) return nobody;
    if (!round.defaulted_at) await reportMissing(tx, open, 'MEMBER_DEFAULTED', { on_default: circle.on_default });
    round.defaulted_at ??= now;
    const remedy = remedyOf(terms.on_default, circle.amount, places);
    // Debits are noted after they were tried, so that an interrupted try is repeated.
    if (remedy.kind !== 'debit') round.remedied_at = now;
    await tx.flush();
    await remedyNow(tx, open, { remedy, now });
    return { turn: circle.current_turn, debited: remedy.kind === 'debit' ? remedy.members : [] };
  });
  await failpoint('settle-default.settled');
  for (const memberId of debited) await payForMember(em.fork(), { circleId, memberId, turn, sourceAccountId: null });
  if (debited.length > 0) await noteTry(em, { circleId, turn, now });
  await failpoint('settle-default.after');
  return findProgress(em.fork(), circleId);
}

const noteTry = async (
  em: EntityManager,
  { circleId, turn, now }: { circleId: string; turn: number; now: Date },
): Promise<void> =>
  void (await em.execute(
    'update saving_circle_rounds set remedied_at = ? where saving_circle_id = ? and turn_number = ?',
    [now, circleId, turn],
  ));

const nobody: { turn: number; debited: string[] } = { turn: 0, debited: [] };

async function remedyNow(
  tx: EntityManager,
  { circle, round, places }: LockedRound,
  { remedy, now }: { remedy: Remedy; now: Date },
): Promise<void> {
  const ofTurn = { circleId: circle.id, turn: circle.current_turn };
  if (remedy.kind === 'cover') {
    const debtors = [...new Set(remedy.covers.map(({ debtor }) => debtor))];
    await cancelPendingContributions(tx, { ...ofTurn, memberIds: debtors });
    await writeCovers(tx, circle, remedy.covers);
    await payPot(tx, circle, now);
  } else if (remedy.kind === 'exclude') {
    await cancelPendingContributions(tx, { ...ofTurn, memberIds: remedy.members });
    const receiver = await exclude(tx, circle, { excluded: remedy.members, places });
    if (receiver === null) return endWithoutReceiver(tx, circle, now);
    round.receiver_member_id = receiver;
    await tx.flush();
    await payPot(tx, circle, now);
  }
}

async function writeCovers(tx: EntityManager, circle: SavingCircle, covers: readonly Cover[]): Promise<void> {
  for (const { debtor, guarantor, amount } of covers) {
    await tx.execute(
      `insert into saving_circle_covers
         (saving_circle_id, turn_number, debtor_member_id, guarantor_member_id, amount) values (?, ?, ?, ?, ?)`,
      [circle.id, circle.current_turn, debtor, guarantor, amount],
    );
  }
}

/** Ends places and moves later turns up. Returns whose turn it is then; null when nobody is left to receive. */
async function exclude(
  tx: EntityManager,
  circle: SavingCircle,
  { excluded, places }: { excluded: readonly string[]; places: readonly Place[] },
): Promise<string | null> {
  const members = new Map(
    (await tx.find(CircleMember, { saving_circle_id: circle.id }, { refresh: true })).map((row) => [row.id, row]),
  );
  const turns = closeUp(places, { currentTurn: circle.current_turn, excluded });
  for (const id of excluded) Object.assign(members.get(id) ?? {}, { excluded_turn: circle.current_turn });
  // Ascending, so that a turn is free before another member takes it.
  for (const { memberId, turn } of turns.toSorted((left, right) => (left.turn ?? 0) - (right.turn ?? 0))) {
    Object.assign(members.get(memberId) ?? {}, { turn_number: turn });
    await tx.flush();
  }
  return turns.find(({ turn }) => turn === circle.current_turn)?.memberId ?? null;
}

/** The last receiver has lost their place: what was contributed for them is shared out with everything else. */
async function endWithoutReceiver(tx: EntityManager, circle: SavingCircle, now: Date): Promise<void> {
  circle.updated_at = await readDatabaseClock(tx);
  await complete(tx, circle, now);
  await recordEvent(tx, {
    event: 'RESOURCE_UPDATED',
    resourceType: 'saving_circle',
    resourceId: circle.id,
    actorId: null,
    requestId: null,
    data: { round: 'ended', turn_number: circle.current_turn, status: circle.status },
  });
}
