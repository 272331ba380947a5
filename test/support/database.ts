import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { keysUrlBeside, postgresUrl } from '../../dev/postgres.ts';
import { applicationRole, databaseRights, readerRole, rolesOf } from '../../src/platform/database/database-roles.ts';
import { roleSettings } from '../../src/platform/database/database-time-outs.ts';
import { testRun } from './run.ts';

export interface TestDatabase {
  /** For the role of API and worker. */
  url: string;
  /** For the owner, who alone may plant a corruption or alter a table. */
  ownerUrl: string;
  readerUrl: string;
  /** The keys database beside it, for the application's role and for its owner. */
  keysUrl: string;
  keysOwnerUrl: string;
  drop(): Promise<void>;
}

/** Clones a database without connections, by default the run's migrated template. */
export async function cloneDatabase(template = testRun().postgres.template): Promise<TestDatabase> {
  const database = await createDatabase(template);
  const name = new URL(database.ownerUrl).pathname.slice(1);
  const keys = new URL(database.keysUrl).pathname.slice(1);
  await administer(`create database ${keys} template ${keysTemplateOf(testRun().postgres.template)}`);
  const owner = new URL(database.ownerUrl).username;
  // A clone does not inherit the time-outs that migrations set for the roles in a database.
  for (const [each, roles] of [
    [name, rolesOf.books],
    [keys, rolesOf.keys],
  ] as const) {
    const settings = [owner, ...roles].flatMap((role) => roleSettings(role, each));
    await administer(...databaseRights(each, roles), ...settings);
  }
  return database;
}

/** The migrated keys database that belongs to a template. */
export const keysTemplateOf = (template: string): string => `${template}_keys`;

/** Removes the time-outs of the owner's transactions, so that they can wait as long as a test blocks others. */
export async function letOwnerWait({ ownerUrl }: Pick<TestDatabase, 'ownerUrl'>): Promise<void> {
  const { username, pathname } = new URL(ownerUrl);
  const names = ['idle_in_transaction_session_timeout', 'transaction_timeout'];
  await administer(...names.map((name) => `alter role ${username} in database ${pathname.slice(1)} set ${name} = 0`));
}

/** Creates an unmigrated database. */
export const createEmptyDatabase = (): Promise<TestDatabase> => createDatabase('template0');

async function createDatabase(template: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await administer(`create database ${name} template ${template}`);
  const place = { ...testRun().postgres, database: name };
  const url = postgresUrl({ ...place, role: applicationRole });
  return {
    url,
    keysUrl: keysUrlBeside(url),
    keysOwnerUrl: keysUrlBeside(postgresUrl(place)),
    ownerUrl: postgresUrl(place),
    readerUrl: postgresUrl({ ...place, role: readerRole }),
    drop: () => administer(...[name, `${name}_keys`].map((each) => `drop database if exists ${each} with (force)`)),
  };
}

async function administer(...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: postgresUrl({ ...testRun().postgres, database: 'postgres' }) });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
