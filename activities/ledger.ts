import type { EntityManager } from '@mikro-orm/postgresql';
import { measureChecks } from '../src/ledger/measure-checks.ts';
import { findChecks, runCheckInTurn } from '../src/ledger/run-checks.ts';
import { closeDays } from '../src/ledger/seals/close-days.ts';
import { makeSeal } from '../src/ledger/seals/make-seal.ts';
import type { Dependencies } from '../src/wiring/dependencies.ts';
import { beating, step } from './step.ts';

/** Activities of the ledger: its checks and seals. */
export function createLedgerActivities(deps: Dependencies) {
  const measured = measureChecks(deps.metrics);
  return {
    findLedgerChecks: step(deps, 'findLedgerChecks', async (em, _: object) => {
      const checks = await findChecks(em);
      measured.expect(checks);
      return checks;
    }),
    runLedgerCheck: step(deps, 'runLedgerCheck', async (em, { check }: { check: string }) => {
      const result = await beating(runCheckInTurn(em, check));
      measured.read([result]);
      return result.violations;
    }),
    /** A completed pass also closes the days that it sealed. */
    makeSeal: step(deps, 'makeSeal', (em, { pass }: { pass: string }) => beating(sealAndClose(em, deps, pass))),
  };
}

async function sealAndClose(em: EntityManager, { storage, sealKeys: keys }: Dependencies, pass: string) {
  const made = await makeSeal(em, { storage, keys }, pass);
  if (made.done) await closeDays(em);
  return made;
}
