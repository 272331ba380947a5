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
import type { CircleProgress, SavingCircleInput } from '../src/circles/circle-contract.ts';
import type { CircleStatus } from '../src/circles/saving-circle.ts';
import { tellCircle, untilNextLook } from './circle-progress.ts';
import { hasLapsed } from './refusal.ts';
import { firstStep, ledgerStep } from './step-options.ts';

/** The request waits for this: the circle has its row. */
export const awaitCircle = defineUpdate<void>('awaitCircle');
/** Only a hint: it makes the circle read the database, which decides. */
export const circleChanged = defineSignal('circleChanged');

const { openCircle } = proxyLocalActivities<Activities>(firstStep);
const { moveCircle } = proxyActivities<Activities>(ledgerStep);

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
  setHandler(circleChanged, () => {
    hints += 1;
  });
  let seen = hints;
  let circle: CircleProgress;
  try {
    circle = await opened;
  } catch (refusal) {
    await condition(allHandlersFinished);
    if (opening === undefined) throw refusal;
    return hasLapsed(refusal) ? 'lapsed' : 'refused';
  }

  while (circle.phase !== 'ended') {
    tellCircle(circle);
    const left = untilNextLook(circle);
    if (left > 0) await condition(() => hints > seen, left);
    seen = hints;
    const wasOpen = circle.phase === 'collecting';
    circle = await moveCircle({ circleId, at: new Date(Date.now()).toISOString() });
    const isRoundOver = wasOpen && circle.phase === 'between rounds';
    if (isRoundOver || workflowInfo().continueAsNewSuggested) await beginAnew(circleId);
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
