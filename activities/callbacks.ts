import { redeliverCallbacks } from '../src/callbacks/deliver-callback.ts';
import { withTime } from '../src/database-time-outs.ts';
import type { Dependencies } from '../src/dependencies.ts';
import { forgetOldRows } from '../src/forget-old-rows.ts';
import { gauge } from '../src/http/metrics.ts';
import { runChecks } from '../src/ledger/run-checks.ts';
import { sweepOverduePayments } from '../src/payments/sweep-overdue-payments.ts';
import { sweepReceipts } from '../src/payments/sweep-receipts.ts';
import { budgets } from '../src/shared/budgets.ts';
import { reportSweepFailure, step } from './step.ts';

/** Activities of the schedules: what was stored and not delivered, what is overdue, what the checks say. */
export function createCallbackActivities(deps: Dependencies) {
  const failed = reportSweepFailure(deps);
  return {
    redeliverCallbacks: step(deps, 'redeliverCallbacks', (em, _: object) =>
      redeliverCallbacks(em, deps.workflows, failed),
    ),
    sweepOverduePayments: step(deps, 'sweepOverduePayments', (em, _: object) =>
      sweepOverduePayments(em, deps.workflows, failed),
    ),
    forgetOldRows: step(deps, 'forgetOldRows', (em, _: object) => withTime(em, budgets.database.sweep, forgetOldRows)),
    sweepReceipts: step(deps, 'sweepReceipts', (em, _: object) => sweepReceipts(em, deps.workflows, failed)),
    runLedgerChecks: step(deps, 'runLedgerChecks', async (em, _: object) => {
      const results = await runChecks(em);
      const violations = gauge(deps.metrics, 'amanah_check_violations', 'Rows of each check_* view; 0 is healthy.', [
        'check',
      ]);
      for (const { check, violations: count } of results) violations.set({ check }, count);
      gauge(
        deps.metrics,
        'amanah_checks_read_timestamp_seconds',
        'When the checks were last read.',
        [],
      ).setToCurrentTime();
      return results.filter(({ violations: count }) => count > 0).map(({ check }) => check);
    }),
  };
}
