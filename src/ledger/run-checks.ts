import type { EntityManager } from '@mikro-orm/postgresql';
import { readFresh } from '../database/replica.ts';
import { budgets } from '../shared/budgets.ts';
import { isDataError } from '../shared/errors.ts';

export interface CheckResult {
  /** The name of a `check_*` view. */
  check: string;
  /** The number of its rows; 0 is healthy. */
  violations: number;
  /** The first rows, for operators. */
  sample: Record<string, unknown>[];
}

const sampleSize = 5;

/**
 * Reads every `check_*` view (`readFresh`): the database's own proof that its invariants hold. A view that fails on a row's data
 * counts as one violation and does not hide the others. Throws when the database does not answer.
 */
export async function runChecks(em: EntityManager): Promise<CheckResult[]> {
  const views = await em.execute<{ name: string }[]>(
    "select viewname as name from pg_views where schemaname = 'public' and viewname like 'check\\_%' order by 1",
  );
  if (views.length === 0) throw new Error('this database has no checks');
  const results: CheckResult[] = [];
  for (const { name } of views) {
    // The name comes from the catalogue and is quoted; a view name cannot be a parameter.
    const sql = `select *, count(*) over () as violations from "${name}" limit ${sampleSize}`;
    const rows = await readFresh(
      em,
      (reader) => reader.execute<Record<string, unknown>[]>(sql),
      budgets.database.checks,
    ).catch((error: unknown) => {
      if (!isDataError(error)) throw error;
      return [{ violations: 1, cannot_be_read: String(error) }];
    });
    results.push({
      check: name,
      violations: Number(rows[0]?.violations ?? 0),
      sample: rows.map(({ violations: _, ...row }) => row),
    });
  }
  return results;
}
