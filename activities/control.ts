import { activityInfo, cancellationSignal } from '@temporalio/activity';
import { continueErasure } from '../src/control/erasure/continue-erasure.ts';
import { judgeClearing, measureClearing } from '../src/control/reconciliation/compare-clearing.ts';
import { reconcileDay } from '../src/control/reconciliation/reconcile-day.ts';
import { findDaysToReconcile } from '../src/control/reconciliation/reconciled-days.ts';
import type { Dependencies } from '../src/wiring/dependencies.ts';
import { beating, repeating, reportSweepFailure, step } from './step.ts';

/** Activities of reconciliation with the providers (daily records and balance) and of erasures. */
export function createControlActivities(deps: Dependencies) {
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
    // If the file store is down, Temporal retries instead of recording a refusal.
    continueErasure: step(deps, 'continueErasure', (em, { erasureId }: { erasureId: string }) =>
      repeating(continueErasure(em, deps, erasureId)),
    ),
  };
}
