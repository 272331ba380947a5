import { proxyActivities, sleep } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { ClearingVerdict } from '../src/control/reconciliation/clearing.ts';
import { tellDetails } from './go-on.ts';
import { clearingStep } from './step-options.ts';

const { measureClearing, judgeClearing } = proxyActivities<Activities>(clearingStep);

/**
 * Started by a schedule: compares gateway clearing with the provider's balance. Both are read at the same moment and
 * judged ten minutes later, when what the provider had done by then has been booked.
 */
export async function compareClearing(): Promise<ClearingVerdict> {
  const { day } = await measureClearing({});
  tellDetails(`Measured ${day}; judged in ten minutes.`);
  await sleep('10 minutes');
  const verdict = await judgeClearing({ day });
  tellDetails(`${verdict.day}: ${verdict.agreed ? 'agreed' : `a difference of IDR ${verdict.difference}`}.`);
  return verdict;
}
