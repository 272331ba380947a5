import { chownSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { makeKeysDatabase } from '../../dev/keys-database.ts';
import type { Part } from '../../dev/part.ts';
import { findFreePort } from '../../dev/ports.ts';
import { keysUrlBeside, type PostgresOptions, postgresUrl, startPostgres } from '../../dev/postgres.ts';
import { applicationRole, readerRole } from '../../src/platform/database/database-roles.ts';
import { migrate } from '../../src/wiring/commands/migrate.ts';
import type { TestDatabase } from './database.ts';
import { withClient } from './with-client.ts';

export interface Replicated {
  /** A migrated database on the primary. */
  database: TestDatabase;
  /** The URL of the replica, for the role of API and worker. */
  replicaUrl: string;
  /** Runs a statement as the cluster's owner, on the replica. */
  onReplica(sql: string): Promise<Record<string, unknown>[]>;
  stopReplica(): Promise<void>;
  startReplica(): Promise<void>;
  /** Creates another replica and promotes it, which starts a new timeline; returns the URL of its database. */
  failOver(): Promise<string>;
  stop(): Promise<void>;
}

/** Starts a separate primary and a streaming replica, with the binaries that `npm start` uses. */
export async function startReplicated(): Promise<Replicated> {
  const directory = mkdtempSync(join(tmpdir(), 'amanah-replicated-'));
  const place = { password: 'of-the-test', database: 'amanah' };
  const settings = { fsync: 'off' };
  const primary = { ...place, directory: join(directory, 'primary'), port: await findFreePort(), settings };
  const parts: { primary?: Part; replica?: Part | undefined; promoted?: Part } = {};
  parts.primary = await startPostgres(primary, { logFile: join(directory, 'primary.log') });
  const url = postgresUrl(primary);
  await migrate(url, { [applicationRole]: place.password, [readerRole]: place.password });
  await makeKeysDatabase(keysUrlBeside(url));

  const copyTo = async (name: string) => {
    const copy = {
      ...place,
      directory: join(directory, name),
      port: await findFreePort(),
      settings: {
        ...settings,
        hot_standby_feedback: 'on',
        primary_slot_name: name,
        primary_conninfo: `host=127.0.0.1 port=${primary.port} user=amanah password=${place.password}`,
      },
    } satisfies PostgresOptions;
    await withClient(url, (client) => copyCluster(client, primary.directory, copy.directory, name));
    return copy;
  };
  const replica = await copyTo('replica');
  const startReplica = async () => {
    parts.replica = await startPostgres(replica, { logFile: join(directory, 'replica.log') });
  };
  const stopReplica = async () => {
    await parts.replica?.stop();
    parts.replica = undefined;
  };
  await startReplica();
  return {
    database: {
      ownerUrl: url,
      url: postgresUrl({ ...primary, role: applicationRole }),
      keysUrl: keysUrlBeside(postgresUrl({ ...primary, role: applicationRole })),
      keysOwnerUrl: keysUrlBeside(url),
      readerUrl: postgresUrl({ ...primary, role: readerRole }),
      drop: async () => undefined,
    },
    replicaUrl: postgresUrl({ ...replica, role: applicationRole }),
    onReplica: (sql) => withClient(postgresUrl(replica), async (client) => (await client.query(sql)).rows),
    startReplica,
    stopReplica,
    failOver: async () => {
      const promoted = await copyTo('promoted');
      parts.promoted = await startPostgres(promoted, { logFile: join(directory, 'promoted.log') });
      await withClient(postgresUrl(promoted), (client) => client.query('select pg_promote()'));
      return postgresUrl({ ...promoted, role: applicationRole });
    },
    stop: async () => {
      await stopReplica();
      await parts.promoted?.stop();
      await parts.primary?.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Makes a base backup for a new replica; the slot retains the WAL that the replica will need. */
async function copyCluster(client: pg.Client, from: string, to: string, slot: string): Promise<void> {
  const log = join(from, 'pg_wal');
  await client.query('select pg_create_physical_replication_slot($1, true)', [slot]);
  await client.query('select pg_backup_start($1, true)', [slot]);
  const isCopied = (path: string) => !path.startsWith(`${log}/`) && !path.endsWith('postmaster.pid');
  cpSync(from, to, { recursive: true, preserveTimestamps: true, filter: isCopied });
  const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
  writeFileSync(join(to, 'backup_label'), rows[0]?.labelfile ?? '');
  writeFileSync(join(to, 'standby.signal'), '');
  for (const inner of ['archive_status', 'summaries']) mkdirSync(join(to, 'pg_wal', inner), { recursive: true });
  const { uid, gid } = statSync(from);
  own(to, uid, gid);
}

/** If run by root, gives the files to the user that runs the server. */
export function own(path: string, uid: number, gid: number): void {
  if (process.getuid?.() !== 0) return;
  chownSync(path, uid, gid);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const inner = join(path, entry.name);
    if (entry.isDirectory()) own(inner, uid, gid);
    else chownSync(inner, uid, gid);
  }
}
