import { activityInfo, cancellationSignal } from '@temporalio/activity';
import { judgeClearing, measureClearing } from '../src/control/reconciliation/compare-clearing.ts';
import { reconcileDay } from '../src/control/reconciliation/reconcile-day.ts';
import { findDaysToReconcile } from '../src/control/reconciliation/reconciled-days.ts';
import type { Dependencies } from '../src/wiring/dependencies.ts';
import { beating, reportSweepFailure, step } from './step.ts';

/** Activities of reconciliation with the provider: of its records, day by day, and of its balance. */
export function createReconciliationActivities(deps: Dependencies) {
  const failed = reportSweepFailure(deps);
  const { gateways } = deps;
  return {
    findDaysToReconcile: step(deps, 'findDaysToReconcile', (em, input: { at: string }) =>
      findDaysToReconcile(em, gateways, input),
    ),
    reconcileDay: step(deps, 'reconcileDay', (em, { day }: { day: string }) =>
      beating(
        reconcileDay(
          em,
          { ...deps, failed },
          { day, takenBy: activityInfo().workflowExecution?.runId ?? '', signal: cancellationSignal() },
        ),
      ),
    ),
    measureClearing: step(deps, 'measureClearing', (em, _: object) =>
      measureClearing(em, gateways, { signal: cancellationSignal() }),
    ),
    judgeClearing: step(deps, 'judgeClearing', (em, input: { day: string }) => judgeClearing(em, input)),
  };
}
