import type { EntityManager } from '@mikro-orm/postgresql';
import { budgets, type DatabaseBudget } from '../../shared/budgets.ts';
import { transactionTime } from './time-limit.ts';

/** PostgreSQL's setting for each field of a budget. */
const parameters = {
  lock: 'lock_timeout',
  statement: 'statement_timeout',
  idle: 'idle_in_transaction_session_timeout',
  transaction: 'transaction_timeout',
} as const satisfies Record<keyof DatabaseBudget, string>;

const names = Object.keys(parameters) as (keyof DatabaseBudget)[];

/**
 * Gives the manager's transaction a budget other than the role's. The time-outs are set for this transaction only,
 * which also works behind a pooler.
 */
export async function allowTime(tx: EntityManager, budget: DatabaseBudget): Promise<void> {
  const times = { ...budget, transaction: transactionTime(budget.transaction) };
  // A new value does not change a running transaction timer; switch it off (0) first.
  const settings = names.map((name) => `set_config('${parameters[name]}', '${times[name]}', true)`);
  await tx.execute(`select set_config('${parameters.transaction}', '0', true), ${settings.join(', ')}`);
}

/** Gives a manager's connection another budget until it is closed; its pool must have a single connection. */
export async function setSessionTimeOuts(em: EntityManager, budget: DatabaseBudget): Promise<void> {
  await em.execute(
    `select ${names.map((name) => `set_config('${parameters[name]}', '${budget[name]}', false)`).join(', ')}`,
  );
}

/** Runs work in a transaction with a budget other than the role's. */
export function withTime<T>(
  em: EntityManager,
  budget: DatabaseBudget,
  work: (tx: EntityManager) => Promise<T>,
): Promise<T> {
  return em.transactional(async (tx) => {
    await allowTime(tx, budget);
    return work(tx);
  });
}

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/**
 * Keeps the contents of statements out of the server's log: the text of failed ones, and the DETAIL, which quotes rows
 * and, for a deadlock, both statements. Only an administrator, or a role granted the right, may change these two
 * settings.
 */
const quietLog: Record<string, string> = { log_min_error_statement: 'panic', log_error_verbosity: 'terse' };
const timeOuts: Record<string, string> = Object.fromEntries(
  names.map((name) => [parameters[name], String(budgets.database.role[name])]),
);

/** The names of all settings that our roles have; a role with any other is refused. */
export const settingNames: readonly string[] = Object.keys({ ...timeOuts, ...quietLog });

const statementOf = (role: string, database: string, name: string, value: string): string =>
  `alter role ${quote(role)} in database ${quote(database)} set ${name} = ${value}`;

/**
 * Returns the statements that set a role's default time-outs and keep secrets out of the log, in one database rather
 * than the whole cluster, where other programs may use the same role. A copy of the database lacks them.
 */
export const roleSettings = (role: string, database: string): string[] =>
  Object.entries({ ...timeOuts, ...quietLog }).map(([name, value]) => statementOf(role, database, name, value));

/**
 * Returns the statements of `roleSettings` that have not been run yet: the time-outs, and separately the log settings,
 * which owners usually may not change.
 */
export async function missingSettings(
  tx: EntityManager,
  role: string,
  database: string,
): Promise<{ timeOuts: string[]; quietLog: string[] }> {
  const rows = await tx.execute<{ setting: string }[]>(
    `select unnest(s.setconfig) as setting from pg_db_role_setting s join pg_roles r on r.oid = s.setrole
     join pg_database d on d.oid = s.setdatabase where r.rolname = ? and d.datname = ?`,
    [role, database],
  );
  const settings = new Set(rows.map(({ setting }) => setting));
  const missing = (wanted: Record<string, string>) =>
    Object.entries(wanted)
      .filter(([name, value]) => !settings.has(`${name}=${value}`))
      .map(([name, value]) => statementOf(role, database, name, value));
  return { timeOuts: missing(timeOuts), quietLog: missing(quietLog) };
}

/** Throws an error naming each time-out of this connection that differs from the role's budget. */
export async function refuseOtherTimeOuts(em: EntityManager): Promise<void> {
  const rows = await em.execute<{ name: string; ms: number; role: string; database: string }[]>(
    `select name, setting::int as ms, current_user as role, current_database() as database from pg_settings
     where name in (${names.map((name) => `'${parameters[name]}'`).join(', ')})`,
  );
  const wrong = names.flatMap((name) => {
    const row = rows.find((candidate) => candidate.name === parameters[name]);
    const expected = budgets.database.role[name];
    return row?.ms === expected ? [] : [`${parameters[name]} is ${row?.ms ?? 'unknown'} instead of ${expected} ms`];
  });
  if (wrong.length === 0) return;
  throw new Error(
    `The role ${rows[0]?.role} has different time-outs in the database ${rows[0]?.database} than this version needs ` +
      `(${wrong.join(', ')}): run "npm run migrate", which sets them.`,
  );
}
