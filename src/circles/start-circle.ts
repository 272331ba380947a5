import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../platform/database/database-clock.ts';
import type { Sealer } from '../platform/encryption/sealer.ts';
import { must } from '../shared/assert.ts';
import { failpoint } from '../shared/failpoint.ts';
import { recordChange, takeStep } from './change-circle.ts';
import type { CircleProgress, CircleStep } from './circle-contract.ts';
import { CircleMember } from './circle-member.entity.ts';
import { placeOfSeed } from './open-circle.ts';
import { openingInstant, openRoundOf } from './open-round.ts';
import type { SavingCircle } from './saving-circle.entity.ts';
import { minimumMembers } from './saving-circle.ts';
import { lastHourForMembers } from './start-date.ts';
import { drawsWithEntropy, termsOf } from './terms.ts';
import { gatherEntropy, inTurnOrder } from './turn-order.ts';

/**
 * Starts a `new` circle whose start date has come at `at`: assigns the turns, sets it `active` and opens its first
 * round, in one transaction. With fewer than two members it waits until `lastHourForMembers` and then ends `cancelled`;
 * so does one without a round to run, whose first turn is beyond its members. Otherwise changes nothing. Returns the
 * circle's progress.
 */
export async function startCircle(
  em: EntityManager,
  sealer: Sealer,
  { circleId, at }: CircleStep,
): Promise<CircleProgress> {
  const now = new Date(at);
  const progress = await takeStep(em, circleId, async (tx, circle) => {
    if (circle.status !== 'new' || circle.starts_at > now) return;
    const members = await tx.find(
      CircleMember,
      { saving_circle_id: circleId },
      { orderBy: { joining_order: 'asc' }, refresh: true },
    );
    if (members.length < minimumMembers && lastHourForMembers(circle) > now) return;
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
    await recordChange(tx, circleId, { status, members: members.length, turn_number });
  });
  await failpoint('start-circle.after');
  return progress;
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
