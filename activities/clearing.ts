import { cancellationSignal } from '@temporalio/activity';
import type { Dependencies } from '../src/dependencies.ts';
import type { ClearingMeasurement } from '../src/reconciliation/clearing.ts';
import { judgeClearing, measureClearing } from '../src/reconciliation/compare-clearing.ts';
import { step } from './step.ts';

/** Activities of the comparison of gateway clearing with the provider's balance. */
export function createClearingActivities(deps: Dependencies) {
  return {
    measureClearing: step(deps, 'measureClearing', (em, _: object) =>
      measureClearing(em, deps.gateway, { signal: cancellationSignal() }),
    ),
    judgeClearing: step(deps, 'judgeClearing', (em, input: { measured: ClearingMeasurement }) =>
      judgeClearing(em, input),
    ),
  };
}
