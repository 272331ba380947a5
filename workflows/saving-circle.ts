import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { CircleProgress, SavingCircleInput } from '../src/circles/circle-contract.ts';
import type { CircleStatus } from '../src/circles/saving-circle.ts';
import { tellCircle, untilNextLook } from './circle-progress.ts';
import { ledgerStep } from './step-options.ts';

/** A hint that the circle may have changed: the workflow reads the database, which decides. */
export const circleChanged = defineSignal('circleChanged');

const { moveCircle } = proxyActivities<Activities>(ledgerStep);

/**
 * A saving circle from creation to its last round: waits for the start date and assigns the turns. In each round waits
 * for every member's contribution, pays the pot once, and opens the next round on time; if contributions are missing,
 * reminds, reports, and applies the terms. Contributions signal it; without a signal it checks once a day.
 */
export async function savingCircle({ circleId }: SavingCircleInput): Promise<CircleStatus> {
  let hints = 0;
  setHandler(circleChanged, () => {
    hints += 1;
  });
  let seen = hints;
  let circle = await takeStep(circleId);
  while (circle.phase !== 'ended') {
    tellCircle(circle);
    const left = untilNextLook(circle);
    if (left > 0) await condition(() => hints > seen, left);
    seen = hints;
    const wasOpen = circle.phase === 'collecting';
    circle = await takeStep(circleId);
    const isRoundOver = wasOpen && circle.phase === 'between rounds';
    if (isRoundOver || workflowInfo().continueAsNewSuggested) await beginAnew(circleId);
  }
  tellCircle(circle);
  await condition(allHandlersFinished);
  return circle.status;
}

/** Takes the next step, if one is due by now. */
const takeStep = (circleId: string): Promise<CircleProgress> =>
  moveCircle({ circleId, at: new Date(Date.now()).toISOString() });

/** Continues each round as a new run, which first reads the database and so sees whatever signals hinted at. */
async function beginAnew(circleId: string): Promise<never> {
  await condition(allHandlersFinished);
  return continueAsNew<typeof savingCircle>({ circleId });
}
