import { redeliverCallbacks } from '../src/callbacks/deliver-callback.ts';
import type { Dependencies } from '../src/dependencies.ts';
import { reportSweepFailure, step } from './step.ts';

/** Activities of callbacks: what was stored and not delivered. */
export function createCallbackActivities(deps: Dependencies) {
  return {
    redeliverCallbacks: step(deps, 'redeliverCallbacks', (em, _: object) =>
      redeliverCallbacks(em, deps.workflows, reportSweepFailure(deps)),
    ),
  };
}
