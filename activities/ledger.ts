import type { Dependencies } from '../src/dependencies.ts';
import { runChecks } from '../src/ledger/run-checks.ts';
import { gauge } from '../src/metrics/metrics.ts';
import { step } from './step.ts';

/** Activities of the ledger: its checks. */
export function createLedgerActivities(deps: Dependencies) {
  return {
    runLedgerChecks: step(deps, 'runLedgerChecks', async (em, _: object) => {
      const results = await runChecks(em);
      const violations = gauge(deps.metrics, 'amanah_check_violations', 'Rows of each check_* view; 0 is healthy.', [
        'check',
      ]);
      for (const { check, violations: count } of results) violations.set({ check }, count);
      gauge(
        deps.metrics,
        'amanah_checks_read_timestamp_seconds',
        'When the checks were last read.',
        [],
      ).setToCurrentTime();
      return results.filter(({ violations: count }) => count > 0).map(({ check }) => check);
    }),
  };
}
