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

/** The names of the `check_*` views: the database's own proof that its invariants hold. */
export async function findChecks(em: EntityManager): Promise<string[]> {
  const views = await em.execute<{ name: string }[]>(
    "select viewname as name from pg_views where schemaname = 'public' and viewname like 'check\\_%' order by 1",
  );
  if (views.length === 0) throw new Error('this database has no checks');
  return views.map(({ name }) => name);
}

/**
 * Reads one view (`readFresh`), by its name in the catalogue. One that fails on a row's data counts as one violation.
 * Throws when the database does not answer, or not in time.
 */
export async function runCheck(em: EntityManager, check: string): Promise<CheckResult> {
  // Quoted; a view's name cannot be a parameter.
  const sql = `select *, count(*) over () as violations from "${check.replaceAll('"', '""')}" limit ${sampleSize}`;
  const rows = await readFresh(
    em,
    (reader) => reader.execute<Record<string, unknown>[]>(sql),
    budgets.database.checks,
  ).catch((error: unknown) => {
    if (!isDataError(error)) throw error;
    return [{ violations: 1, cannot_be_read: String(error) }];
  });
  return {
    check,
    violations: Number(rows[0]?.violations ?? 0),
    sample: rows.map(({ violations: _, ...row }) => row),
  };
}

/** Reads every view; one that fails on a row's data does not hide the others. Throws as `runCheck`. */
export async function runChecks(em: EntityManager): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const check of await findChecks(em)) results.push(await runCheck(em, check));
  return results;
}
