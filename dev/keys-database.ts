import pg from 'pg';
import { keysRole } from '../src/platform/database/database-roles.ts';
import { migrateKeys } from '../src/wiring/commands/migrate.ts';

/** Creates the database that a URL names, as its owner, unless it exists. */
export async function ensureDatabase(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  const server = new URL(url);
  server.pathname = '/postgres';
  const client = new pg.Client({ connectionString: server.href });
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
    if (rowCount === 0) await client.query(`create database ${client.escapeIdentifier(name)}`);
  } finally {
    await client.end();
  }
}

/** Creates and migrates the keys database, whose role gets the owner's password; can be repeated. */
export async function makeKeysDatabase(ownerUrl: string): Promise<void> {
  await ensureDatabase(ownerUrl);
  await migrateKeys(ownerUrl, { [keysRole]: decodeURIComponent(new URL(ownerUrl).password) });
}
