import type { EntityManager } from '@mikro-orm/postgresql';
import { readFresh } from '../platform/database/replica.ts';
import { budgets, type DatabaseBudget } from '../shared/budgets.ts';
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

/** Returns the names of the `check_*` views, which verify the invariants of the database. Throws if there is none. */
export async function findChecks(em: EntityManager): Promise<string[]> {
  const views = await em.execute<{ name: string }[]>(
    "select viewname as name from pg_views where schemaname = 'public' and viewname like 'check\\_%' order by 1",
  );
  if (views.length === 0) throw new Error('this database has no checks');
  return views.map(({ name }) => name);
}

/**
 * Reads one view (see `readFresh`) by its name: only rows since the instant of a version 7 UUID, or all rows without
 * one. A view that fails on a row's data counts as one violation. Throws if the database does not answer in time.
 */
export async function runCheck(
  em: EntityManager,
  check: string,
  since?: string,
  budget: DatabaseBudget = budgets.database.checks,
): Promise<CheckResult> {
  // Quoted; a view's name cannot be a parameter.
  const sql = `select *, count(*) over () as violations from "${check.replaceAll('"', '""')}" limit ${sampleSize}`;
  const rows = await readFresh(
    em,
    async (reader) => {
      // An empty value means unset. Both settings are for this transaction only, because a pooler may change the
      // session. With the second, the database cancels the query if the worker dies.
      await reader.execute(
        "select set_config('amanah.checks_since', ?, true), set_config('client_connection_check_interval', '5s', true)",
        [since ?? ''],
      );
      return await reader.execute<Record<string, unknown>[]>(sql);
    },
    budget,
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

/**
 * Reads one view as scheduled: all rows once a night, and until the next night only newer rows. Reads a non-empty view
 * in full the next time, so that no violation is lost.
 */
export async function runCheckInTurn(em: EntityManager, check: string): Promise<CheckResult> {
  // The night begins at 03:30 in UTC+7. Read two more hours, because an id is older than its transaction's commit, and
  // the clock of the process that created it may be slow.
  const [turn] = await em.execute<[{ now: string; since: string | null }]>(
    `select now()::text as now, (select uuidv7(p.proved_at - now() - interval '2 hours') from proved_checks p
       where p.check_name = ? and p.proved_at between date_bin('1 day', now(), timestamptz '2000-01-01 20:30:00Z') and now())
       as since`,
    [check],
  );
  const result = await runCheck(em, check, turn.since ?? undefined);
  if (result.violations > 0) {
    await em.execute('delete from proved_checks where check_name = ?', [check]);
  } else if (turn.since === null) {
    await em.execute(
      `insert into proved_checks (check_name, proved_at) values (?, ?::timestamptz)
       on conflict (check_name) do update set proved_at = excluded.proved_at`,
      [check, turn.now],
    );
  }
  return result;
}

/** Reads every view in full; a view that fails on a row's data does not hide the others. Throws as `runCheck` does. */
export async function runChecks(em: EntityManager): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const check of await findChecks(em)) results.push(await runCheck(em, check));
  return results;
}

/** A view that could not be read, and the database's error. */
export interface UnreadCheck {
  check: string;
  why: string;
}

/**
 * As `runChecks`, for an operator's command with a longer time-out: returns the views that could not be read, and reads
 * the others. Throws if the database does not answer at all.
 */
export async function runChecksPatiently(
  em: EntityManager,
): Promise<{ results: CheckResult[]; unread: UnreadCheck[] }> {
  const results: CheckResult[] = [];
  const unread: UnreadCheck[] = [];
  for (const check of await findChecks(em)) {
    try {
      results.push(await runCheck(em, check, undefined, budgets.database.command));
    } catch (error) {
      await em.execute('select 1');
      unread.push({ check, why: error instanceof Error ? error.message : String(error) });
    }
  }
  return { results, unread };
}
