import { continueAsNew, proxyActivities, sleep, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { ErasureStatus, PersonErasureInput } from '../src/control/erasure/erasure.ts';
import { formatWesternIndonesia } from '../src/shared/clock.ts';
import { tellDetails } from './go-on.ts';
import { erasureStep } from './step-options.ts';

const { continueErasure } = proxyActivities<Activities>(erasureStep);

const stories: Readonly<Record<ErasureStatus, string>> = {
  waiting: 'Waits and may still be stopped, or something blocks the erasure.',
  erasing: 'Key and files are being destroyed.',
  erased: 'No live data names the person. Waits until the last backup of the keys has expired.',
  complete: 'Complete: no copy of the key is left.',
  stopped: 'Stopped before anything was erased.',
};

/**
 * Erases a person as decided by two people. After a waiting time in which the erasure may be stopped, and once nothing
 * blocks it, clears rows, destroys the key and deletes files; completes once no backup of the key is left. The step
 * checks every condition, so running it too early, or twice, changes nothing.
 */
export async function personErasure({ erasureId }: PersonErasureInput): Promise<ErasureStatus> {
  for (;;) {
    const { status, waitMs } = await continueErasure({ erasureId });
    if (waitMs <= 0) {
      tellDetails(stories[status]);
      return status;
    }
    tellDetails(`${stories[status]} Checks again at ${formatWesternIndonesia(new Date(Date.now() + waitMs))} (UTC+7).`);
    await sleep(waitMs);
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof personErasure>({ erasureId });
  }
}
