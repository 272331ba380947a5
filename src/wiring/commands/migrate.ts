import { setTimeout as delay } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import { baseline, migrations } from '../../migrations/index.ts';
import { keysMigrations } from '../../migrations/keys/index.ts';
import { refuseOldDatabase } from '../../migrations/refuse-old-database.ts';
import { readMigrationConfig } from '../../platform/config/command-config.ts';
import type { NamedMigration } from '../../platform/database/database.ts';
import {
  applicationRole,
  createRoles,
  type DatabaseRole,
  keysRole,
  missingRights,
  passwordFor,
  type RolePasswords,
  readerRole,
  refuseUnlessOwner,
  rolesOf,
} from '../../platform/database/database-roles.ts';
import { missingSettings, setSessionTimeOuts } from '../../platform/database/database-time-outs.ts';
import { givingWay } from '../../platform/database/giving-way.ts';
import { makeComingMonths } from '../../platform/housekeeping/make-months.ts';
import { runMain } from '../../platform/process/process.ts';
import { budgets } from '../../shared/budgets.ts';
import { ConfigError, errorCodeOf } from '../../shared/errors.ts';
import { openDatabase } from '../open-database.ts';

/** Concurrent migrations take turns on this advisory lock. */
const migrationLock = 7_262_624;
const turnPollMs = 200;
const mayNot = '42501';

export interface MigrateOptions {
  /** All migrations; the product's own unless a test passes others. */
  list?: readonly NamedMigration[];
  /** The roles that use the database besides its owner. */
  roles?: readonly DatabaseRole[];
  /** How long a migration is retried before it fails, in milliseconds. */
  givesWayMs?: number;
  /** Called with a sentence each time a migration gives way. */
  tell?: (sentence: string) => void;
}

/**
 * Brings a database to the newest schema, as its owner, with the roles that use it, their rights and their time-outs,
 * and with the partitions of the coming months. Safe to run from several processes at once and on a migrated database.
 * Runs migration by migration: one that does not get a lock within two seconds gives way, so that no statement queues
 * behind it for longer, and is retried. Needs a direct connection: a transaction-mode pooler would lose the lock and
 * the time-outs. Returns the names of the migrations that were run.
 */
export async function migrate(
  url: string,
  passwords: RolePasswords = {},
  {
    list = migrations,
    roles = rolesOf.books,
    givesWayMs = budgets.migration.givesWay,
    tell = () => {},
  }: MigrateOptions = {},
): Promise<string[]> {
  // A single connection holds the advisory lock and the time-outs: both end with it, however this process ends.
  const orm = await openDatabase({ url, poolSize: 1, migrations: list });
  try {
    const em = orm.em.fork();
    await setSessionTimeOuts(em, budgets.database.migration);
    await takeTurn(em);
    await em.transactional(async (tx) => {
      await refuseUnlessOwner(tx, { schema: 'public', wants: 'create tables' });
      if (list.includes(baseline)) await refuseOldDatabase(tx);
      await createRoles(tx, roles, passwords);
      await settleRoles(tx, roles, tell);
    });
    const done: string[] = [];
    const inTime = (name: string, make: () => Promise<unknown>) =>
      givingWay(make, {
        givesWayMs,
        tell: () => tell(`${name} did not get a lock; it is retried in ${budgets.migration.pause / 1000} s.`),
      });
    for (const { name } of await orm.migrator.getPending()) {
      await inTime(name, async () => {
        // A non-transactional migration may have set its own time-outs.
        await setSessionTimeOuts(orm.em.fork(), budgets.database.migration);
        await orm.migrator.up({ migrations: [name] });
      });
      done.push(name);
    }
    if (list.includes(baseline)) await inTime('The partition of a month', () => makeComingMonths(orm.em.fork()));
    return done;
  } finally {
    await orm.close(true);
  }
}

/** Like `migrate`, for the keys database. */
export const migrateKeys = (
  url: string,
  passwords: RolePasswords,
  options: Pick<MigrateOptions, 'tell'> = {},
): Promise<string[]> => migrate(url, passwords, { ...options, list: keysMigrations, roles: rolesOf.keys });

/** Polls, because a concurrent index build would wait for a statement that blocks on the lock. */
async function takeTurn(em: EntityManager): Promise<void> {
  for (;;) {
    const [{ mine }] = await em.execute<[{ mine: boolean }]>('select pg_try_advisory_lock(?) as mine', [migrationLock]);
    if (mine) return;
    await delay(turnPollMs);
  }
}

/**
 * Applies settings of roles and of the database itself, which a dump does not contain. Skips those already set, so that
 * an administrator can set them for an owner who may not.
 */
async function settleRoles(
  tx: EntityManager,
  roles: readonly DatabaseRole[],
  tell: (sentence: string) => void,
): Promise<void> {
  const [{ owner, database }] = await tx.execute<[{ owner: string; database: string }]>(
    'select current_user as owner, current_database() as database',
  );
  const statements = await missingRights(tx, database, roles);
  const quieting: string[] = [];
  for (const role of new Set([owner, ...roles])) {
    const { timeOuts, quietLog } = await missingSettings(tx, role, database);
    statements.push(...timeOuts);
    quieting.push(...quietLog);
  }
  try {
    for (const statement of statements) await tx.execute(statement);
  } catch (error) {
    if (errorCodeOf(error) !== mayNot) throw error;
    throw new ConfigError(
      `Nothing was migrated, because the role ${owner} may not grant rights in the database ${database}. ` +
        `Ask a database administrator to run: ${statements.join('; ')}; Then run "npm run migrate" again.`,
      { cause: error },
    );
  }
  try {
    await tx.transactional(async (inner) => {
      for (const statement of quieting) await inner.execute(statement);
    });
  } catch (error) {
    if (errorCodeOf(error) !== mayNot) throw error;
    tell(
      `The role ${owner} may not keep failed statements out of the server's log. ` +
        `Ask a database administrator to run: ${quieting.join('; ')};`,
    );
  }
}

if (import.meta.main) await runMain(run);

async function run(): Promise<void> {
  const { owner, application, reader, keysOwner, keysApplication } = readMigrationConfig();
  const passwords = { ...passwordFor(applicationRole, application), ...passwordFor(readerRole, reader) };
  const tell = (sentence: string) => void process.stderr.write(`${sentence}\n`);
  // Migrate the keys first: no person can be stored without them.
  const done = [
    ...(await migrateKeys(keysOwner, passwordFor(keysRole, keysApplication), { tell })),
    ...(await migrate(owner, passwords, { tell })),
  ];
  process.stdout.write(done.length === 0 ? 'The schemas are up to date.\n' : `Migrated: ${done.join(', ')}.\n`);
}
