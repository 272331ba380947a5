import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { ReconciliationSummary } from '../src/control/reconciliation/reconciliation.ts';
import { daysStep, reconciliationStep } from './step-options.ts';

const { findDaysToReconcile } = proxyActivities<Activities>(daysStep);
/** A day is compared page by page; a retry resumes at the first page that was not written. */
const { reconcileDay } = proxyActivities<Activities>(reconciliationStep);

/**
 * Started by a schedule: compares with the provider every day of the last 31 that is not done yet or has open
 * differences. A day that cannot be compared does not hold up the next one; its failure is thrown at the end.
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
