import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { ReconciliationSummary } from '../src/reconciliation/reconciliation.ts';
import { budgets } from '../src/shared/budgets.ts';

const { findDaysToReconcile } = proxyActivities<Activities>({
  startToCloseTimeout: budgets.steps.sweep,
  retry: { initialInterval: '1 second', maximumInterval: '5 minutes', maximumAttempts: 12 },
});
/**
 * A day is compared page by page, and the next attempt goes on with the page that the last one did not write. The step
 * beats, so that a worker that died is found out soon. A provider that is away is asked for seven hours; a day that is
 * still missing then is taken by the next run.
 */
const { reconcileDay } = proxyActivities<Activities>({
  startToCloseTimeout: budgets.steps.reconciliation,
  heartbeatTimeout: budgets.heartbeat.missing,
  retry: { initialInterval: '1 second', maximumInterval: '5 minutes', maximumAttempts: 90 },
});

/**
 * Started by a schedule: compares every day of the last 31 that is missing with the provider, and those whose differences
 * are still open. A day that cannot be compared does not hold up the next one, and is told by the failure in the end.
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
