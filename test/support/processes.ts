import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { makeKeysDatabase } from '../../dev/keys-database.ts';
import type { Part } from '../../dev/part.ts';
import { findFreePort } from '../../dev/ports.ts';
import { keysUrlBeside, postgresUrl, startPostgres } from '../../dev/postgres.ts';
import { callbackPath, startSandbox } from '../../dev/sandbox-part.ts';
import { startApi, startWorker } from '../../dev/service-parts.ts';
import { startTcpProxy, type TcpProxy } from '../../dev/tcp-proxy.ts';
import { startTemporal } from '../../dev/temporal.ts';
import { applicationRole } from '../../src/platform/database/database-roles.ts';
import { migrate } from '../../src/wiring/commands/migrate.ts';
import type { Dependencies } from '../../src/wiring/dependencies.ts';
import { openDatabase } from '../../src/wiring/open-database.ts';
import { cloneDatabase } from './database.ts';
import { createSecrets, silenceMs, testEnvironment } from './environment.ts';
import { eventually } from './eventually.ts';
import { createHttp, type Http } from './http.ts';
import { openPatiently } from './open-patiently.ts';
import { isRecording } from './record-histories.ts';
import { testRun } from './run.ts';
import { borrowStack, once, type Shareable, settingsOf } from './shared-stacks.ts';

export interface ProcessStackOptions {
  /** Do not share the stack with other files: for a file that counts all rows. */
  own?: boolean;
  /**
   * Starts a separate PostgreSQL, which the test may stop, in the given directory, if any. Durable, unlike the run's.
   */
  ownPostgres?: boolean | { directory: string };
  /** Starts a separate Temporal server with a database file, which the test may stop. */
  ownTemporal?: boolean;
  /** Puts a proxy (`lines`) on each connection of API and worker to their dependencies. */
  proxied?: boolean;
  /** Variables that differ from the usual ones. */
  env?: Record<string, string>;
  /** Variables for the worker only. */
  workerEnv?: Record<string, string>;
}

/** The connections of API or worker, which a test cuts, delays or silences. */
export interface Lines {
  database: TcpProxy;
  temporal: TcpProxy;
  provider: TcpProxy;
}

/** API, worker and sandbox as the processes of a deployment, which a test kills, stops and starts again. */
export interface ProcessStack extends Http, AsyncDisposable {
  url: string;
  deps: Dependencies;
  orm: MikroORM;
  em(): EntityManager;
  /** An entity manager with the rights of the database's owner. */
  owner(): EntityManager;
  sandbox: Http & { url: string };
  env: Record<string, string>;
  api: Part;
  worker: Part;
  /** The proxies; throws without `proxied`. */
  lines: { api: Lines; worker: Lines };
  /** Arms failpoints in API and worker, as in `FAILPOINTS`; an empty text disarms all. */
  arm(failpoints: string): void;
  /**
   * Holds every call that reaches the point, in addition to the points already held, until the next `arm` or `restart`;
   * starts the given work and resolves once it is held there. On a path with several points, hold the last one first.
   */
  holdAt(point: string, begin: () => unknown): Promise<void>;
  /** Kills a process with kill -9, and waits until it has exited. */
  kill(which: 'api' | 'worker'): Promise<void>;
  /** Starts the processes that are not running, with no failpoint armed. */
  restart(): Promise<void>;
  stopPostgresImmediately(): Promise<void>;
  /** Starts PostgreSQL unless it is running. */
  startPostgresAgain(): Promise<void>;
  /** The output of a part so far. */
  readLog(name: 'postgres' | 'api' | 'worker'): string;
  killTemporal(): Promise<void>;
  startTemporalAgain(): Promise<void>;
  /**
   * Kills Temporal and, unless `workerLives`, the worker, deletes all of Temporal's data, and starts them again; runs
   * `meanwhile` in between.
   */
  loseTemporal(meanwhile: () => Promise<void>, options?: { workerLives?: boolean }): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts the processes; each keeps its port when it restarts. Files with the same `env` and no other options share a
 * stack.
 */
export async function startProcessStack(options: ProcessStackOptions = {}): Promise<ProcessStack> {
  const { env = {}, ...rest } = options;
  if (Object.keys(rest).length > 0 || isRecording()) return startOwnProcesses(options);
  const borrowed = await borrowStack(
    `processes ${settingsOf(env)}`,
    () => startOwnProcesses({ env, keepsDatabase: true }),
    testRun().directory,
  );
  if (borrowed === null) return startOwnProcesses(options);
  const stop = once(borrowed.giveBack);
  // Inherits instead of copying, because the processes change with each restart.
  return Object.create(borrowed.stack, { stop: { value: stop }, [Symbol.asyncDispose]: { value: stop } });
}

async function startOwnProcesses(
  options: ProcessStackOptions & { keepsDatabase?: boolean },
): Promise<ProcessStack & Shareable> {
  const run = testRun();
  const secrets = createSecrets();
  const directory = join(run.directory, secrets.taskQueue);
  const logFile = (name: string) => join(directory, `${name}.log`);
  const parts = new Map<string, Part>();
  const [apiPort, sandboxPort, smtpPort] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const url = `http://127.0.0.1:${apiPort}`;
  const sandboxUrl = `http://127.0.0.1:${sandboxPort}`;

  const postgres = {
    port: options.ownPostgres ? await findFreePort() : 0,
    password: randomBytes(8).toString('hex'),
    database: 'amanah',
    directory: typeof options.ownPostgres === 'object' ? options.ownPostgres.directory : join(directory, 'postgres'),
    settings: { max_connections: '200' },
  };
  const beginPostgres = async () =>
    void parts.set('postgres', await startPostgres(postgres, { logFile: logFile('postgres') }));
  const temporal = {
    binary: run.temporal.binary,
    port: options.ownTemporal ? await findFreePort() : 0,
    databaseFile: join(directory, 'temporal.db'),
  };
  const beginTemporal = async () =>
    void parts.set('temporal', await startTemporal(temporal, { logFile: logFile('temporal') }));

  const clone = options.ownPostgres ? undefined : await cloneDatabase();
  const ownerUrl = clone?.ownerUrl ?? postgresUrl(postgres);
  const databaseUrl = clone?.url ?? postgresUrl({ ...postgres, role: applicationRole });
  if (options.ownPostgres) {
    await beginPostgres();
    await migrate(ownerUrl, { [applicationRole]: postgres.password });
    await makeKeysDatabase(keysUrlBeside(ownerUrl));
  }
  if (options.ownTemporal) await beginTemporal();
  const temporalAddress = options.ownTemporal ? `127.0.0.1:${temporal.port}` : run.temporal.address;

  const failpoints = join(run.directory, `failpoints-${secrets.taskQueue}`);
  // A held point polls the file, and continues when the file is empty.
  const write = (text: string) => {
    writeFileSync(`${failpoints}.new`, text);
    renameSync(`${failpoints}.new`, failpoints);
  };
  let held: string[] = [];
  const arm = (text: string) => {
    held = [];
    writeFileSync(`${failpoints}.held`, '');
    write(text);
  };
  arm('');
  const holdAt = async (point: string, begin: () => unknown) => {
    const waiting = () =>
      readFileSync(`${failpoints}.held`, 'utf8')
        .split('\n')
        .filter((name) => name === point).length;
    const before = waiting();
    held.push(point);
    write(held.map((name) => `${name}=hold`).join());
    const isHeld = eventually(
      async () => waiting(),
      (count) => count > before,
      90_000,
    );
    await Promise.all([begin(), isHeld]);
  };
  const env = {
    ...testEnvironment({ databaseUrl, temporalAddress, url, sandboxUrl, smtpPort }, secrets),
    FAILPOINTS: `@${failpoints}`,
    ...options.env,
  };
  const lines = options.proxied ? { api: await drawLines(env), worker: await drawLines(env) } : undefined;
  const begin = async (which: 'api' | 'worker') => {
    const start = which === 'api' ? startApi : startWorker;
    const own = which === 'worker' ? { ...env, ...options.workerEnv } : env;
    const through = lines === undefined ? own : { ...own, ...addressesOf(lines[which], env) };
    parts.set(which, await start({ env: through, logFile: logFile(which) }));
  };
  await Promise.all([
    begin('api'),
    begin('worker'),
    startSandbox(
      {
        port: sandboxPort,
        directory: join(directory, 'sandbox'),
        callbackUrl: `${url}${callbackPath}`,
        callbackToken: secrets.callbackToken,
        secretKey: secrets.sandboxKey,
        smtpPort,
        silenceMs,
      },
      { logFile: logFile('sandbox') },
    ).then((part) => parts.set('sandbox', part)),
  ]);
  const orm = await openDatabase({ url: databaseUrl, poolSize: 8, connectWithinMs: 30_000 });
  const owner = await openDatabase({ url: ownerUrl, poolSize: 4, connectWithinMs: 30_000 });
  const deps = await openPatiently(env);

  const get = (name: string): Part => {
    const part = parts.get(name);
    if (part === undefined) throw new Error(`${name} was never started`);
    return part;
  };
  const kill = async (name: string) => {
    const part = get(name);
    part.kill('SIGKILL');
    await part.exited;
  };
  const stop = async () => {
    await deps[Symbol.asyncDispose]();
    await orm.close(true);
    await owner.close(true);
    for (const name of ['api', 'worker', 'sandbox', 'temporal', 'postgres']) await parts.get(name)?.stop();
    for (const line of lines ? [lines.api, lines.worker] : []) {
      await Promise.all([line.database.close(), line.temporal.close(), line.provider.close()]);
    }
    if (!options.keepsDatabase) await clone?.drop();
  };
  const killTemporal = async () => {
    const { inner } = get('temporal');
    if (inner !== undefined) process.kill(inner, 'SIGKILL');
    await get('temporal').exited;
  };
  const restart = async () => {
    arm('');
    const gone = (['api', 'worker'] as const).filter((name) => !get(name).isRunning());
    await Promise.all(gone.map(begin));
  };
  const sandbox = { ...createHttp(sandboxUrl), url: sandboxUrl };
  return {
    ...createHttp(url),
    url,
    deps,
    orm,
    databaseUrls: { owner: ownerUrl },
    async calm() {
      await restart();
      await sandbox.put('/sandbox/faults', {});
    },
    env,
    em: () => orm.em.fork(),
    owner: () => owner.em.fork(),
    sandbox: { ...createHttp(sandboxUrl), url: sandboxUrl },
    get api() {
      return get('api');
    },
    get worker() {
      return get('worker');
    },
    get lines() {
      if (lines === undefined) throw new Error('this stack has no proxies');
      return lines;
    },
    arm,
    holdAt,
    kill,
    restart,
    async stopPostgresImmediately() {
      const pid = Number.parseInt(readFileSync(join(postgres.directory, 'postmaster.pid'), 'utf8'), 10);
      process.kill(pid, 'SIGQUIT');
      await get('postgres').exited;
    },
    startPostgresAgain: async () => {
      if (!get('postgres').isRunning()) await beginPostgres();
    },
    readLog: (name) => readFileSync(logFile(name), 'utf8'),
    killTemporal,
    startTemporalAgain: beginTemporal,
    async loseTemporal(meanwhile, { workerLives = false } = {}) {
      await killTemporal();
      if (!workerLives) await kill('worker');
      for (const suffix of ['', '-wal', '-shm']) rmSync(`${temporal.databaseFile}${suffix}`, { force: true });
      await meanwhile();
      await beginTemporal();
      if (!workerLives) await begin('worker');
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

type Environment = Record<string, string>;

/** The port of each dependency in a process's environment. */
const portOf = {
  database: (env: Environment) => new URL(env.DATABASE_URL ?? '').port,
  temporal: (env: Environment) => (env.TEMPORAL_ADDRESS ?? '').split(':')[1],
  provider: (env: Environment) => new URL(env.XENDIT_URL ?? '').port,
};

async function drawLines(env: Environment): Promise<Lines> {
  const draw = (name: keyof Lines) => startTcpProxy(name, [Number(portOf[name](env))]);
  return { database: await draw('database'), temporal: await draw('temporal'), provider: await draw('provider') };
}

function addressesOf({ database, temporal, provider }: Lines, env: Environment): Environment {
  const at = (address: string | undefined, { port }: TcpProxy) => {
    const url = new URL(address ?? '');
    url.port = String(port);
    return url.href.replace(/\/$/, '');
  };
  return {
    DATABASE_URL: at(env.DATABASE_URL, database),
    TEMPORAL_ADDRESS: `127.0.0.1:${temporal.port}`,
    XENDIT_URL: at(env.XENDIT_URL, provider),
  };
}
