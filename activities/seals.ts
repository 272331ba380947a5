import type { EntityManager } from '@mikro-orm/postgresql';
import { closeDays } from '../src/ledger/seals/close-days.ts';
import { makeSeal } from '../src/ledger/seals/make-seal.ts';
import type { Dependencies } from '../src/wiring/dependencies.ts';
import { beating, step } from './step.ts';

/** Activities that seal the journals. */
export function createSealActivities(deps: Dependencies) {
  return {
    /** A pass that has come to its end also closes the days that it sealed. */
    makeSeal: step(deps, 'makeSeal', (em, { pass }: { pass: string }) => beating(sealAndClose(em, deps, pass))),
  };
}

async function sealAndClose(em: EntityManager, { storage, sealKeys: keys }: Dependencies, pass: string) {
  const made = await makeSeal(em, { storage, keys }, pass);
  if (made.done) await closeDays(em);
  return made;
}
