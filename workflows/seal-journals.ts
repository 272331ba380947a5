import { continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { sealStep } from './step-options.ts';

/** Each seal is a step; a retry resumes at the first missing seal. */
const { makeSeal } = proxyActivities<Activities>(sealStep);

/** Keeps the history short. */
const sealsPerRun = 200;

/** Journals sealed by earlier runs of this pass; the seals themselves record their progress. */
interface Progress {
  journals: number;
}

/** Started by a schedule: seals every unsealed journal, batch by batch. Returns how many. */
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
