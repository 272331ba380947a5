import type { EntityManager } from '@mikro-orm/postgresql';
import { ConfigError } from '../../shared/errors.ts';
import { textArray } from '../../shared/postgres.ts';
import { executePrepared } from './prepared-statements.ts';

/** The role of API and worker: reads everything, writes what `roles.sql` grants, never a posting directly. */
export const applicationRole = 'amanah_app';
/** The role for people, reports and `npm run verify`: reads everything but secrets, writes nothing. */
export const readerRole = 'amanah_reader';

/** The role of API and worker in the keys database, to which the main database's role has no access. */
export const keysRole = 'amanah_keys';

export type DatabaseRole = typeof applicationRole | typeof readerRole | typeof keysRole;

/** The roles, besides the owner, that use the main database and the keys database. */
export const rolesOf = {
  books: [applicationRole, readerRole],
  keys: [keysRole],
} as const satisfies Record<string, readonly DatabaseRole[]>;

/** Passwords for roles to create; a role without one cannot log in with a password. */
export type RolePasswords = Partial<Record<DatabaseRole, string>>;

/** Returns the password in a database URL, if the URL names this role. */
export function passwordFor(role: DatabaseRole, url: string | undefined): RolePasswords {
  if (url === undefined) return {};
  const { username, password } = new URL(url);
  return decodeURIComponent(username) === role && password !== '' ? { [role]: decodeURIComponent(password) } : {};
}

/**
 * Creates missing roles; existing ones keep their passwords. Tolerates concurrent migrations of two databases in one
 * cluster, which share roles. If the connection's role may not create roles, throws ConfigError with the statements for
 * an administrator.
 */
export async function createRoles(
  tx: EntityManager,
  roles: readonly DatabaseRole[],
  passwords: RolePasswords,
): Promise<void> {
  const missing = await tx.execute<{ name: DatabaseRole }[]>(
    'select name from unnest(?::text[]) name where not exists (select from pg_roles where rolname = name)',
    [textArray(roles)],
  );
  if (missing.length === 0) return;
  const [me] = await tx.execute<[{ name: string; may: boolean }]>(
    'select rolname as name, rolsuper or rolcreaterole as may from pg_roles where rolname = current_user',
  );
  if (!me.may) {
    const statements = missing.map(({ name }) => `create role ${name} login password '...';`).join(' ');
    throw new ConfigError(
      `The role ${me.name} may not create roles, and ${missing.map(({ name }) => name).join(' and ')} must exist. ` +
        `Ask a database administrator to run: ${statements} Then run "npm run migrate" again.`,
    );
  }
  for (const { name } of missing) {
    // A utility statement takes no parameters, so its text is built in the database, with proper quoting. The password
    // is a parameter, and errors do not quote the statement, so neither is in the server's log.
    await executePrepared(tx, "select set_config('amanah.password', ?, true) as password", [passwords[name] ?? '']);
    await tx.execute(`do $make$ begin
        execute format('create role ${name} login password %L', nullif(current_setting('amanah.password'), ''));
      exception when duplicate_object or unique_violation then null;
        when others then raise exception using errcode = sqlstate, message = sqlerrm; end $make$`);
    await tx.execute("select set_config('amanah.password', '', true)");
  }
}

/**
 * Throws ConfigError unless this connection's role owns the schema. The application's role would otherwise fail at the
 * first table with an unhelpful error.
 */
export async function refuseUnlessOwner(
  em: EntityManager,
  { schema, wants }: { schema: 'public' | 'months'; wants: string },
): Promise<void> {
  const [it] = await em.execute<[{ role: string; may: boolean }]>(
    "select current_user as role, has_schema_privilege(?, 'CREATE') as may",
    [schema],
  );
  if (it.may) return;
  throw new ConfigError(
    `The role ${it.role} may not ${wants}: name the owner of the schema in MIGRATION_DATABASE_URL.`,
  );
}

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/**
 * Returns the statements that restrict a database to our roles and forbid temporary tables, which would shadow ours.
 * These rights belong to the database itself; a database created from it as a template lacks them.
 */
export const databaseRights = (database: string, roles: readonly DatabaseRole[]): string[] => [
  `revoke all on database ${quote(database)} from public`,
  `grant connect on database ${quote(database)} to ${roles.join(', ')}`,
];

/** Returns the statements of `databaseRights` if the manager's database still needs them; otherwise none. */
export async function missingRights(
  tx: EntityManager,
  database: string,
  roles: readonly DatabaseRole[],
): Promise<string[]> {
  const [it] = await tx.execute<[{ settled: boolean }]>(
    `select not has_database_privilege('public', current_database(), 'CONNECT, TEMPORARY')
       and bool_and(has_database_privilege(role, current_database(), 'CONNECT')) as settled
     from unnest(?::text[]) role`,
    [textArray(roles)],
  );
  return it.settled ? [] : databaseRights(database, roles);
}
