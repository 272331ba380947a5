import type { Dependencies } from '../src/dependencies.ts';
import { makeSeal } from '../src/seals/make-seal.ts';
import { beating, step } from './step.ts';

/** Activities that seal the journals. */
export function createSealActivities(deps: Dependencies) {
  return {
    makeSeal: step(deps, 'makeSeal', (em, { pass }: { pass: string }) =>
      beating(makeSeal(em, { storage: deps.storage, keys: deps.sealKeys }, pass)),
    ),
  };
}
