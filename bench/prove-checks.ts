import type { EntityManager } from '@mikro-orm/postgresql';
import { runChecks } from '../src/ledger/run-checks.ts';

/** Returns a problem for `endBench` for each `check_*` view that is not empty. */
export async function findViolations(em: EntityManager): Promise<string[]> {
  const checks = await runChecks(em);
  return checks.flatMap(({ check, violations }) => (violations > 0 ? [`${check}: ${violations} violations`] : []));
}
