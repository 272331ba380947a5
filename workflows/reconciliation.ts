import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { ReconciliationSummary } from '../src/reconciliation/reconciliation.ts';
import { budgets } from '../src/shared/budgets.ts';

/** A day is compared page by page; what the provider leaves unanswered is begun anew, as nothing was written. */
const { reconcileDay, findDaysToReconcile } = proxyActivities<Activities>({
  startToCloseTimeout: budgets.steps.reconciliation,
  retry: { initialInterval: '1 minute', maximumInterval: '1 hour', maximumAttempts: 12 },
});

/** Started by a schedule: compares yesterday with the provider, and earlier days whose differences are still open. */
export async function reconciliation(): Promise<ReconciliationSummary[]> {
  const summaries: ReconciliationSummary[] = [];
  for (const day of await findDaysToReconcile({ at: new Date(Date.now()).toISOString() })) {
    summaries.push(await reconcileDay({ day }));
  }
  return summaries;
}
