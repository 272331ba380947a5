import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { postgresUrl } from '../../dev/postgres.ts';
import { roleTimeOuts } from '../../src/database-time-outs.ts';
import { testRun } from './run.ts';

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

/** A database of its own, cloned from the migrated template of the run. */
export async function cloneDatabase(): Promise<TestDatabase> {
  const { postgres } = testRun();
  const name = `test_${randomBytes(6).toString('hex')}`;
  await administer(`create database ${name} template ${postgres.template}`);
  const url = postgresUrl({ ...postgres, database: name });
  // What migrating sets of a role in a database is not in its template.
  await administer(...roleTimeOuts(new URL(url).username, name));
  return {
    url,
    drop: () => administer(`drop database if exists ${name} with (force)`),
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
