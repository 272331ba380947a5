import type { EntityManager } from '@mikro-orm/postgresql';
import type { GatewayPaymentWorkflows } from '../money-in/payments/payment-contract.ts';
import type { Sealer } from '../platform/encryption/sealer.ts';
import { assert } from '../shared/assert.ts';
import { failpoint } from '../shared/failpoint.ts';
import { lockCircle } from './change-circle.ts';
import type { CircleProgress, CircleStep, NextStep } from './circle-contract.ts';
import { endOrders } from './end-orders.ts';
import { findProgress, lookAt } from './find-progress.ts';
import { payPot } from './pay-round.ts';
import { reportMissing, settleDefault } from './settle-default.ts';
import { debitMembers, payStandingOrders } from './standing-orders.ts';
import { openRound, startCircle } from './start-circle.ts';

interface Ports {
  sealer: Sealer;
  workflows: Pick<GatewayPaymentWorkflows, 'hintGatewayPayment'>;
}

/**
 * Takes the circle's next step, if one is due at `at`: under the circle's lock, in one transaction, but for debits, of
 * which each is a transaction of its own. Then ends orders that gave way. Returns the circle's progress. Throws NOT_FOUND;
 * and when a member could not be debited for now, after the others were.
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
  switch (step) {
    case null:
      break;
    case 'pay standing orders':
      await payStandingOrders(em, circleId);
      break;
    case 'debit':
      await debitMembers(em, circleId, now);
      break;
    case 'settle default':
      await em.transactional((tx) => takeStep(tx, sealer, circleId, now));
      await failpoint('settle-default.settled');
      break;
    default:
      await em.transactional((tx) => takeStep(tx, sealer, circleId, now));
      await failpoint('move-circle.moved');
  }
  await endOrders(em, { workflows }, circleId);
  // What has given way is no part of it.
  const progress = step === null ? before : await findProgress(em.fork(), circleId);
  await failpoint('move-circle.read');
  return progress;
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
  if (step === 'open round') return openRound(tx, circle, now);
  assert(progress.phase === 'collecting' && round !== null, 'what is left to do is of an open round');
  const open = { circle, places, round };
  if (step === 'pay the pot') return payPot(tx, open, now);
  await reportMissing(tx, open, step, now);
  if (step === 'settle default') await settleDefault(tx, open, progress.round.facts.remedy, now);
}
