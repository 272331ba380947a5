import type { EntityManager } from '@mikro-orm/postgresql';
import { type CheckResult, findChecks, runChecks } from '../../src/ledger/run-checks.ts';
import { readFresh } from '../../src/platform/database/replica.ts';
import { budgets } from '../../src/shared/budgets.ts';

/**
 * Returns the `check_*` views that are not empty. Reads all in one statement, and single views only to report rows; with
 * the id of an instant (UUID version 7), as the schedule reads them by day: only what is newer.
 */
export async function brokenChecks(em: EntityManager, since = ''): Promise<CheckResult[]> {
  const checks = await findChecks(em);
  const any = checks
    .map((check) => `select '${check}' as name where exists (select from "${check}")`)
    .join(' union all ');
  const read = async (reader: EntityManager) => {
    await reader.execute("select set_config('amanah.checks_since', ?, true)", [since]);
    return reader.execute<unknown[]>(any);
  };
  const isHealthy = await readFresh(em, read, budgets.database.checks).then(
    ({ length }) => length === 0,
    () => false,
  );
  return isHealthy ? [] : (await runChecks(em)).filter(({ violations }) => violations > 0);
}
