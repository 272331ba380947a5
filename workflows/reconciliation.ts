import { proxyActivities, sleep } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { ClearingVerdict } from '../src/control/reconciliation/clearing.ts';
import type { ReconciliationSummary } from '../src/control/reconciliation/reconciliation.ts';
import { tellDetails } from './go-on.ts';
import { clearingStep, daysStep, reconciliationStep } from './step-options.ts';

const { findDaysToReconcile } = proxyActivities<Activities>(daysStep);
/** A day is compared page by page; a retry resumes at the first unrecorded page. */
const { reconcileDay } = proxyActivities<Activities>(reconciliationStep);

/**
 * Started by a schedule: compares with the provider each of the last 31 days that is not done yet or has open
 * differences. A day that cannot be compared does not stop the next; its failure is thrown at the end.
 */
export async function reconciliation(): Promise<ReconciliationSummary[]> {
  const summaries: ReconciliationSummary[] = [];
  const failures: unknown[] = [];
  for (const day of await findDaysToReconcile({ at: new Date(Date.now()).toISOString() })) {
    await reconcileDay({ day }).then(
      (summary) => summaries.push(summary),
      (failure) => failures.push(failure),
    );
  }
  if (failures.length > 0) throw failures[0];
  return summaries;
}

const { measureClearing, judgeClearing } = proxyActivities<Activities>(clearingStep);

/**
 * Started by a schedule: compares gateway clearing with the provider's balance. Both are read at the same moment and
 * compared ten minutes later, once everything that the provider had done by then is booked.
 */
export async function compareClearing(): Promise<ClearingVerdict> {
  const { day } = await measureClearing({});
  tellDetails(`Measured ${day}; judged in ten minutes.`);
  await sleep('10 minutes');
  const verdict = await judgeClearing({ day });
  tellDetails(`${verdict.day}: ${verdict.agreed ? 'agreed' : `a difference of IDR ${verdict.difference}`}.`);
  return verdict;
}
