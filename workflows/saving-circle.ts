import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineSignal,
  defineUpdate,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { CircleProgress, CircleStep, SavingCircleInput } from '../src/circles/circle-contract.ts';
import type { CircleStatus } from '../src/circles/saving-circle.ts';
import { nextLook, tellCircle } from './circle-progress.ts';
import { hasLapsed } from './refusal.ts';
import { firstStep, ledgerStep } from './step-options.ts';

/** The request waits for this: the circle has its row. */
export const awaitCircle = defineUpdate<void>('awaitCircle');
/** Only hints: they make the circle read the database, which decides. */
export const contributionCompleted = defineSignal('contributionCompleted');
export const circleChanged = defineSignal('circleChanged');
export const circleCancelled = defineSignal('circleCancelled');

const { openCircle } = proxyLocalActivities<Activities>(firstStep);
const {
  lookAtCircle,
  startCircle,
  openCircleRound,
  payCircleStandingOrders,
  payCircleRound,
  reportDueContributions,
  reportOverdueContributions,
  settleCircleDefault,
} = proxyActivities<Activities>(ledgerStep);

/**
 * A saving circle from its creation to its last round: waits for its start date, assigns the turns, and in each round
 * waits for every member's contribution, pays the pot once, and opens the next round on time; where contributions are
 * missing it reminds, reports, and does what the terms say. Contributions wake it, and once a day it looks without
 * being woken.
 */
export async function savingCircle({
  circleId,
  opening,
}: SavingCircleInput): Promise<CircleStatus | 'refused' | 'lapsed'> {
  let hints = 0;
  const opened = openCircle({ circleId, opening: opening ?? null });
  setHandler(awaitCircle, async () => void (await opened));
  for (const hint of [contributionCompleted, circleChanged, circleCancelled]) {
    setHandler(hint, () => {
      hints += 1;
    });
  }
  let seen = hints;
  let circle: CircleProgress;
  try {
    circle = await opened;
  } catch (refusal) {
    await condition(allHandlersFinished);
    if (opening === undefined) throw refusal;
    return hasLapsed(refusal) ? 'lapsed' : 'refused';
  }
  const take = (step: (input: CircleStep) => Promise<CircleProgress>) => {
    seen = hints;
    return step({ circleId, at: new Date(Date.now()).toISOString() });
  };

  while (circle.phase !== 'ended') {
    tellCircle(circle);
    const due = nextLook(circle);
    if (due.in > 0) {
      await condition(() => hints > seen, due.in);
      circle = await take(lookAtCircle);
    } else if (due.step === 'start') {
      circle = await take(startCircle);
    } else if (due.step === 'open round') {
      circle = await take(openCircleRound);
    } else if (due.step === 'pay standing orders') {
      circle = await take(payCircleStandingOrders);
    } else if (due.step === 'remind') {
      circle = await take(reportDueContributions);
    } else if (due.step === 'settle default') {
      circle = await take(settleCircleDefault);
    } else if (due.step === 'report overdue') {
      circle = await take(reportOverdueContributions);
    } else {
      circle = await take(payCircleRound);
      if (circle.phase !== 'ended') await beginAnew(circleId);
    }
    if (workflowInfo().continueAsNewSuggested) await beginAnew(circleId);
  }
  tellCircle(circle);
  await condition(allHandlersFinished);
  return circle.status;
}

/**
 * Each round is a run of its own; what signals hinted at meanwhile is in the database, which the next run reads first.
 */
async function beginAnew(circleId: string): Promise<never> {
  await condition(allHandlersFinished);
  return continueAsNew<typeof savingCircle>({ circleId });
}
