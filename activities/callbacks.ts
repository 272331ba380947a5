import { redeliverCallbacks } from '../src/money-in/callbacks/deliver-callback.ts';
import type { Dependencies } from '../src/wiring/dependencies.ts';
import { reportSweepFailure, step } from './step.ts';

/** Activities of callbacks: delivers stored ones again. */
export function createCallbackActivities(deps: Dependencies) {
  const failed = reportSweepFailure(deps);
  return {
    redeliverCallbacks: step(deps, 'redeliverCallbacks', (em, _: object) => redeliverCallbacks(em, deps, failed)),
  };
}
