import { continueErasure } from '../src/control/erasure/continue-erasure.ts';
import type { Dependencies } from '../src/wiring/dependencies.ts';
import { repeating, step } from './step.ts';

/** Activities of the erasure of people. */
export function createErasureActivities(deps: Dependencies) {
  return {
    // A file store that is away is no refusal.
    continueErasure: step(deps, 'continueErasure', (em, { erasureId }: { erasureId: string }) =>
      repeating(continueErasure(em, deps, erasureId)),
    ),
  };
}
