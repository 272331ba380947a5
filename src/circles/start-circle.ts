import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../platform/database/database-clock.ts';
import type { Sealer } from '../platform/encryption/sealer.ts';
import { must } from '../shared/assert.ts';
import { recordChange } from './change-circle.ts';
import { CircleMember } from './circle-member.entity.ts';
import { placeOfSeed } from './open-circle.ts';
import { openingInstant, openRoundOf } from './open-round.ts';
import type { SavingCircle } from './saving-circle.entity.ts';
import { minimumMembers } from './saving-circle.ts';
import { drawsWithEntropy, termsOf } from './terms.ts';
import { gatherEntropy, inTurnOrder } from './turn-order.ts';

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
  const entropy = drawsWithEntropy(circle.turn_order, termsOf(circle))
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
