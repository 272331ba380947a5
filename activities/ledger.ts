import { measureChecks } from '../src/ledger/measure-checks.ts';
import { findChecks, runCheckInTurn } from '../src/ledger/run-checks.ts';
import type { Dependencies } from '../src/wiring/dependencies.ts';
import { beating, step } from './step.ts';

/** Activities of the ledger: its checks. */
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
  };
}
