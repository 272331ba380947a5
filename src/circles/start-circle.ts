import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../platform/database/database-clock.ts';
import type { Sealer } from '../platform/encryption/sealer.ts';
import { must } from '../shared/assert.ts';
import { addIntervals } from '../shared/clock.ts';
import { recordChange } from './change-circle.ts';
import { CircleMember } from './circle-member.entity.ts';
import { CircleRound } from './circle-round.entity.ts';
import type { SavingCircle } from './saving-circle.entity.ts';
import { minimumMembers } from './saving-circle.ts';
import { drawsWithEntropy } from './terms.ts';
import { gatherEntropy, inTurnOrder, placeOfSeed } from './turn-order.ts';

/**
 * Starts a `new` circle whose start has come at `now`: assigns the turns, sets it `active` and opens its first round, in
 * the caller's transaction, under its lock. With fewer than two members it ends `cancelled`; so does one without a round
 * to run, whose first turn is beyond its members.
 */
export async function startCircle(tx: EntityManager, sealer: Sealer, circle: SavingCircle, now: Date): Promise<void> {
  const members = await tx.find(
    CircleMember,
    { saving_circle_id: circle.id },
    { orderBy: { joining_order: 'asc' }, refresh: true },
  );
  circle.updated_at = await readDatabaseClock(tx);
  if (members.length < minimumMembers || circle.current_turn > members.length) {
    circle.status = 'cancelled';
    circle.ended_at = now;
  } else {
    await giveTurns(tx, sealer, circle, members);
    circle.started_at = now;
    circle.first_turn = circle.current_turn;
    circle.schedule_anchor = openingInstant(circle.starts_at, now);
    circle.status = 'active';
    await openRoundOf(tx, circle, circle.schedule_anchor);
  }
  await tx.flush();
  const { status, current_turn: turn_number } = circle;
  await recordChange(tx, circle.id, { status, members: members.length, turn_number });
}

/** Assigns turn numbers from 1 in the turn order, and reveals a lottery's seed with them. */
async function giveTurns(tx: EntityManager, sealer: Sealer, circle: SavingCircle, members: CircleMember[]) {
  const sealed = circle.draw_seed_sealed ?? null;
  const seed = sealed === null ? null : await sealer.open(placeOfSeed(circle.id), sealed);
  if (seed !== null) {
    circle.draw_seed = seed;
    circle.draw_seed_sealed = null;
  }
  const entropy = drawsWithEntropy(circle)
    ? gatherEntropy(members.map((member) => must(member.entropy, 'everybody who joins such a lottery gives a value')))
    : null;
  inTurnOrder(circle.turn_order, members, seed, entropy).forEach((member, index) => {
    member.turn_number = index + 1;
    if (seed !== null) {
      member.drawn_turn = member.turn_number;
      member.drawn_account_id = member.account_id;
    }
  });
  await tx.flush();
}

/** A round opened later than this has cost members that much time, so its interval counts from the actual opening. */
const lateOpeningMs = 60 * 60 * 1000;

/** The opening time of a round planned for `planned`: that time, unless it is opened much later. */
const openingInstant = (planned: Date, now: Date): Date =>
  now.getTime() - planned.getTime() > lateOpeningMs ? now : planned;

/** Opens the round of the circle's current turn, in the caller's transaction, under the circle's lock. */
async function openRoundOf(tx: EntityManager, circle: SavingCircle, openedAt: Date): Promise<void> {
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
