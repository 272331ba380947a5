import type { EntityManager } from '@mikro-orm/postgresql';
import type { GatewayPaymentWorkflows } from '../money-in/payments/payment-contract.ts';
import { type DueBy, readDatabaseClock } from '../platform/database/database-clock.ts';
import type { Sealer } from '../platform/encryption/sealer.ts';
import { assert, must } from '../shared/assert.ts';
import { addIntervals } from '../shared/clock.ts';
import { failpoint } from '../shared/failpoint.ts';
import { lockCircle, recordChange } from './change-circle.ts';
import type { CircleProgress, CircleStep, NextStep } from './circle-contract.ts';
import { CircleMember } from './circle-member.entity.ts';
import { CircleRound } from './circle-round.entity.ts';
import { endOrders } from './end-orders.ts';
import { findProgress, lookAt } from './find-progress.ts';
import { payPot, reportMissing, settleDefault } from './pay-round.ts';
import type { SavingCircle } from './saving-circle.entity.ts';
import { minimumMembers } from './saving-circle.ts';
import { debitMembers, payStandingOrders } from './standing-orders.ts';
import { drawsWithEntropy } from './terms.ts';
import { gatherEntropy, inTurnOrder, placeOfSeed } from './turn-order.ts';

interface Ports {
  sealer: Sealer;
  workflows: Pick<GatewayPaymentWorkflows, 'hintGatewayPayment'>;
}

/**
 * Takes the circle's next step, if due at `at`, under its lock, in one transaction (one per debit); then cancels
 * superseded orders. Returns the circle's progress. Throws NOT_FOUND, and, after all debits, if one must be retried.
 */
export async function moveCircle(
  em: EntityManager,
  { sealer, workflows }: Ports,
  { circleId, at }: CircleStep,
): Promise<CircleProgress> {
  const now = new Date(at);
  await failpoint('move-circle.before');
  const before = await findProgress(em.fork(), circleId);
  const step = dueAt(before, now);
  if (step === 'pay standing orders') await payStandingOrders(em, circleId);
  else if (step === 'debit') await debitMembers(em, circleId, now);
  else if (step !== null) {
    await em.transactional((tx) => takeStep(tx, sealer, circleId, now));
    if (step === 'settle default') await failpoint('settle-default.settled');
    else await failpoint('move-circle.moved');
  }
  await endOrders(em, { workflows }, circleId);
  // Cancelling superseded orders does not change the progress.
  const progress = step === null ? before : await findProgress(em.fork(), circleId);
  await failpoint('move-circle.read');
  return progress;
}

/**
 * As `moveCircle`, for an instant that came through Temporal: takes no step before it is also due by the database's
 * clock. If it is due by the workflow's clock only, `earlyByMs` is the remaining time.
 */
export async function moveCircleWhenDue(
  em: EntityManager,
  ports: Ports,
  { circleId, at }: CircleStep,
  { skipsTime }: DueBy,
): Promise<CircleProgress> {
  if (skipsTime) return moveCircle(em, ports, { circleId, at });
  const now = await readDatabaseClock(em.fork());
  const earlier = new Date(Math.min(now.getTime(), Date.parse(at)));
  const progress = await moveCircle(em, ports, { circleId, at: earlier.toISOString() });
  if (progress.phase === 'ended' || progress.next === null) return progress;
  const due = Date.parse(progress.next.at);
  const isEarly = due > earlier.getTime() && due <= Date.parse(at);
  return isEarly ? { ...progress, earlyByMs: due - now.getTime() } : progress;
}

function dueAt(progress: CircleProgress, now: Date): NextStep['step'] | null {
  if (progress.phase === 'ended' || progress.next === null) return null;
  return Date.parse(progress.next.at) <= now.getTime() ? progress.next.step : null;
}

async function takeStep(tx: EntityManager, sealer: Sealer, circleId: string, now: Date): Promise<void> {
  const circle = await lockCircle(tx, circleId);
  const { progress, places, round } = await lookAt(tx, circle);
  const step = dueAt(progress, now);
  if (step === null || step === 'pay standing orders' || step === 'debit') return;
  if (step === 'start') return startCircle(tx, sealer, circle, now);
  if (step === 'open round') {
    await openRound(tx, circle, now);
    return recordChange(tx, circle.id, { round: 'opened', turn_number: circle.current_turn });
  }
  assert(progress.phase === 'collecting' && round !== null, 'every other step needs an open round');
  const open = { circle, places, round };
  if (step === 'pay the pot') return payPot(tx, open, now);
  await reportMissing(tx, open, step, now);
  if (step === 'settle default') await settleDefault(tx, open, progress.round.facts.remedy, now);
}

/**
 * Starts a `new` circle due at `now`: assigns the turns and opens the first round. Makes it `cancelled` if it has fewer
 * than two members or its first turn is beyond them.
 */
async function startCircle(tx: EntityManager, sealer: Sealer, circle: SavingCircle, now: Date): Promise<void> {
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
    const { current_turn: first_turn, starts_at } = circle;
    const schedule = { schedule_anchor: starts_at, next_opens_at: starts_at };
    Object.assign(circle, { status: 'active', started_at: now, first_turn, ...schedule });
    await openRound(tx, circle, now);
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
    ? gatherEntropy(members.map((member) => must(member.entropy, 'every member of such a lottery gives a value')))
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

/** If a round opens later than this, its interval counts from the actual opening, so that members lose no time. */
const lateOpeningMs = 60 * 60 * 1000;

/** Opens the round of the circle's current turn at `now`, in the caller's transaction, under the circle's lock. */
async function openRound(tx: EntityManager, circle: SavingCircle, now: Date): Promise<void> {
  const planned = must(circle.next_opens_at, 'a circle between rounds has next_opens_at');
  const isLate = now.getTime() - planned.getTime() > lateOpeningMs;
  if (isLate) Object.assign(circle, { schedule_anchor: now, schedule_step: 0 });
  const { id: saving_circle_id, current_turn: turn_number, round_interval, schedule_step } = circle;
  const receiver = await tx.findOneOrFail(CircleMember, { saving_circle_id, turn_number });
  const anchor = must(circle.schedule_anchor, 'a started circle has a schedule');
  tx.create(CircleRound, {
    saving_circle_id,
    turn_number,
    receiver_member_id: receiver.id,
    opened_at: isLate ? now : planned,
    due_at: addIntervals(anchor, round_interval, schedule_step + 1),
  });
  circle.next_opens_at = null;
  circle.updated_at = await readDatabaseClock(tx);
  await tx.flush();
}
