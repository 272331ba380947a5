import { continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { sealStep } from './step-options.ts';

/** Each seal is a step, and the next attempt goes on with the seal that the last one did not make. */
const { makeSeal } = proxyActivities<Activities>(sealStep);

/** A history stays short. */
const sealsPerRun = 200;

/** What the runs before have sealed; where they came to stands in their seals. */
interface Progress {
  journals: number;
}

/** Started by a schedule: seals every journal that is in no seal yet, part by part. Returns how many. */
export async function sealJournals(from: Progress = { journals: 0 }): Promise<number> {
  const pass = workflowInfo().firstExecutionRunId;
  let { journals } = from;
  for (let seals = 0; seals < sealsPerRun; seals += 1) {
    const step = await makeSeal({ pass });
    if (step.number !== null) journals += step.journals;
    if (step.done) return journals;
  }
  return continueAsNew<typeof sealJournals>({ journals });
}
