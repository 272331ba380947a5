import type { Dependencies } from '../src/dependencies.ts';
import { continueErasure } from '../src/erasure/continue-erasure.ts';
import { isDomainError } from '../src/shared/errors.ts';
import { step } from './step.ts';

/** Activities of the erasure of people. */
export function createErasureActivities(deps: Dependencies) {
  return {
    continueErasure: step(deps, 'continueErasure', async (em, { erasureId }: { erasureId: string }) => {
      try {
        return await continueErasure(em, deps, erasureId);
      } catch (error) {
        // A file store that is away is no refusal: the step is repeated until it is back.
        const isAway = isDomainError(error) && error.code === 'SERVICE_UNAVAILABLE';
        throw isAway ? new Error('the file store is away', { cause: error }) : error;
      }
    }),
  };
}
