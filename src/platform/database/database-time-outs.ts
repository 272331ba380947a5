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
/** The settings that the product's roles have. */
export const timeOutNames: readonly string[] = Object.values(parameters);

/**
 * Gives the manager's transaction a budget other than the role's. The time-outs are set for this transaction only,
 * which works behind a pooler too.
 */
export async function allowTime(tx: EntityManager, budget: DatabaseBudget): Promise<void> {
  const times = { ...budget, transaction: transactionTime(budget.transaction) };
  // A new value does not move the running transaction timer: it has to be switched off (0) first.
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
 * The statements that make the usual time-outs a role's defaults in one database, not in the whole cluster, where other
 * programs may use the same role. A copy of the database lacks them.
 */
export const roleTimeOuts = (role: string, database: string): string[] =>
  names.map((name) => roleTimeOut(role, database, name));

const roleTimeOut = (role: string, database: string, name: keyof DatabaseBudget): string =>
  `alter role ${quote(role)} in database ${quote(database)} set ${parameters[name]} = ${budgets.database.role[name]}`;

/** Those of `roleTimeOuts` that are not set yet. */
export async function missingTimeOuts(tx: EntityManager, role: string, database: string): Promise<string[]> {
  const rows = await tx.execute<{ setting: string }[]>(
    `select unnest(s.setconfig) as setting from pg_db_role_setting s join pg_roles r on r.oid = s.setrole
     join pg_database d on d.oid = s.setdatabase where r.rolname = ? and d.datname = ?`,
    [role, database],
  );
  const settings = new Set(rows.map(({ setting }) => setting));
  const isMissing = (name: keyof DatabaseBudget) => !settings.has(`${parameters[name]}=${budgets.database.role[name]}`);
  return names.filter(isMissing).map((name) => roleTimeOut(role, database, name));
}

/** Throws, naming each setting that differs from the role's budget, unless this connection has them all. */
export async function refuseOtherTimeOuts(em: EntityManager): Promise<void> {
  const rows = await em.execute<{ name: string; ms: number; role: string; database: string }[]>(
    `select name, setting::int as ms, current_user as role, current_database() as database from pg_settings
     where name in (${names.map((name) => `'${parameters[name]}'`).join(', ')})`,
  );
  const wrong = names.flatMap((name) => {
    const row = rows.find((candidate) => candidate.name === parameters[name]);
    const expected = budgets.database.role[name];
    return row?.ms === expected ? [] : [`${parameters[name]} is ${row?.ms ?? 'not known'} and not ${expected} ms`];
  });
  if (wrong.length === 0) return;
  throw new Error(
    `The role ${rows[0]?.role} has other time-outs in the database ${rows[0]?.database} than this version needs ` +
      `(${wrong.join(', ')}): run "npm run migrate", which sets them.`,
  );
}
