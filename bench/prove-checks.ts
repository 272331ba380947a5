import type { EntityManager } from '@mikro-orm/postgresql';
import { runChecks } from '../src/ledger/run-checks.ts';

/** Each `check_*` view that is not empty, as a problem for `endBench`; none when the books balance. */
export async function findViolations(em: EntityManager): Promise<string[]> {
  const checks = await runChecks(em);
  return checks.flatMap(({ check, violations }) => (violations > 0 ? [`${check}: ${violations} violations`] : []));
}
