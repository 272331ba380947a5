import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { WorkflowNotFoundError } from '@temporalio/client';
import { ensureWorkflowBundle } from '../../dev/bundle.ts';
import { makeKeysDatabase } from '../../dev/keys-database.ts';
import type { Part } from '../../dev/part.ts';
import { findFreePort } from '../../dev/ports.ts';
import { keysUrlBeside, postgresUrl, startPostgres } from '../../dev/postgres.ts';
import { startMarkOf } from '../../dev/process-records.ts';
import { callbackPath, startSandbox } from '../../dev/sandbox-part.ts';
import { startApi, startWorker } from '../../dev/service-parts.ts';
import { startTcpProxy, type TcpProxy } from '../../dev/tcp-proxy.ts';
import { startTemporal } from '../../dev/temporal.ts';
import { findTemporalBinary } from '../../dev/temporal-binary.ts';
import { readConfig } from '../../src/platform/config/config.ts';
import { applicationRole } from '../../src/platform/database/database-roles.ts';
import { migrate } from '../../src/wiring/commands/migrate.ts';
import { type Dependencies, openDependencies } from '../../src/wiring/dependencies.ts';
import { openDatabase } from '../../src/wiring/open-database.ts';
import { createHttp, type Http } from '../support/http.ts';
import { followClock, moveClock } from '../support/moved-clock.ts';
import { keepTransitions } from './keep-transitions.ts';
import { moneyOutTerms } from './money-out-terms.ts';
import {
  type DiskName,
  diskNames,
  type LinkName,
  linkNames,
  type PartName,
  type ServiceName,
  serviceNames,
  type WorkerName,
} from './parts.ts';
import { mountSmallDisk, type SmallDisk, unmountSmallDisk } from './small-disk.ts';

/** The whole product as processes, with a proxy between each pair of parts. */
export interface Topology extends AsyncDisposable {
  /** Data and logs; removed at the end unless something was found. */
  directory: string;
  /** The runner's own connection, which bypasses all proxies. */
  deps: Dependencies;
  em(): EntityManager;
  /** An entity manager with the owner's rights, for changes that the product may not make. */
  owner(): EntityManager;
  /** The URLs at which clients reach the two APIs, through proxies. */
  apiUrls: readonly [string, string];
  /** The first API, without its proxy, for building the cast. */
  api: Http;
  sandbox: Http & { url: string };
  callbackUrl: string;
  callbackToken: string;
  /** Texts that no log may contain. */
  secrets: readonly string[];
  /** The URL for partners' webhooks: the sandbox's receiver, through a proxy. */
  webhookUrl: string;
  link(name: LinkName): TcpProxy;
  part(name: PartName): Part | undefined;
  logFile(name: string): string;
  /** Temporal's data, including its write-ahead log. */
  temporalFiles: readonly string[];
  /** Starts a stopped part. */
  start(name: PartName): Promise<void>;
  /** Kills a part (PostgreSQL by an immediate shutdown, which keeps committed data), and waits until it has exited. */
  kill(name: PartName): Promise<void>;
  stop(name: PartName): Promise<void>;
  /** Signals a part; for PostgreSQL, each of its processes. */
  signal(name: PartName, signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** The owner's database, for connections of the torture's own. */
  ownerUrl: string;
  /** The disk of the database, or the one that APIs write to; null if no separate disk could be mounted. */
  disk(name: DiskName): SmallDisk | null;
  /** Offsets the wall clock of one of our processes by a number of milliseconds. */
  moveClock(name: ServiceName, offsetMs: number): void;
  /** Sets the build id of a worker from its next start on. */
  setBuild(name: WorkerName, buildId: string): void;
  buildOf(name: WorkerName): string | null;
  /** Runs Temporal's command line against the server, without a proxy. */
  temporalCommand(args: readonly string[]): Promise<string>;
  /** Whether Temporal can look a workflow up, without a proxy: its process may run on without its database. */
  temporalAnswers(): Promise<boolean>;
  /** Allows a part to exit from now on, because one of its dependencies goes down. */
  mayEnd(name: PartName): void;
  /** Kills Temporal and deletes its data, even while another fault is starting it. */
  loseTemporal(): Promise<void>;
  /** Parts that exited without being stopped. */
  died: string[];
  /** Keeps data and logs after the end. */
  keep(): void;
}

const runFile = promisify(execFile);
const prefix = 'amanah-torture-';
/** A file that marks a directory as kept. */
const keptMark = 'kept';
/** The name of the worker deployment in the runbook. */
export const deploymentName = 'amanah';
const diskMegabytes: Record<DiskName, number> = { postgres: 512, api: 64 };
const commandMs = 10_000;
const taskQueue = 'payments';
/**
 * Without `fsync` only a power cut loses data, and there is none here. Oracles need commit timestamps. Deadlocks must
 * be detected before the product's own time-outs.
 */
const settings = {
  fsync: 'off',
  full_page_writes: 'off',
  max_connections: '200',
  log_checkpoints: 'off',
  track_commit_timestamp: 'on',
  deadlock_timeout: '100ms',
  max_wal_size: '128MB',
};

/**
 * Starts PostgreSQL, Temporal, the sandbox, two APIs and two workers, with a proxy on every connection between two of
 * them.
 */
export async function startTopology(say: (sentence: string) => void): Promise<Topology> {
  removeAbandonedDirectories();
  const directory = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`));
  const disks = new Map(
    diskNames.map((name) => [name, mountSmallDisk(join(directory, 'disks', name), diskMegabytes[name])]),
  );
  const apiDirectory = disks.get('api')?.directory ?? directory;
  const logFile = (name: string) => join(name.startsWith('api') ? apiDirectory : directory, 'logs', `${name}.log`);
  const uploads = join(apiDirectory, 'uploads');
  mkdirSync(uploads, { recursive: true });
  const clocks = join(directory, 'clocks');
  mkdirSync(clocks);
  const builds = new Map<string, string>();
  const parts = new Map<PartName, Part>();
  const told = new Set<Part>();
  const died: string[] = [];
  const links = new Map<LinkName, TcpProxy>();
  let kept = false;

  const ports = Object.fromEntries(
    await Promise.all(
      (['postgres', 'temporal', 'sandbox', ...serviceNames] as const).map(async (name) => [name, await findFreePort()]),
    ),
  ) as Record<PartName, number>;
  for (const name of linkNames) {
    const [, to = ''] = name.split('>');
    const targets = to === 'api' ? [ports.api1, ports.api2] : [ports[to === 'receiver' ? 'sandbox' : (to as PartName)]];
    links.set(name, await startTcpProxy(name, targets));
  }
  const link = (name: LinkName): TcpProxy => {
    const found = links.get(name);
    if (found === undefined) throw new Error(`there is no link ${name}`);
    return found;
  };
  const secret = () => randomBytes(12).toString('hex');
  const postgres = {
    port: ports.postgres,
    password: secret(),
    database: 'amanah',
    directory: join(disks.get('postgres')?.directory ?? directory, 'postgres'),
    settings,
  };
  const temporalFile = join(directory, 'temporal.db');
  const sandboxOptions = {
    port: ports.sandbox,
    directory: join(directory, 'sandbox'),
    callbackUrl: `http://127.0.0.1:${link('sandbox>api').port}${callbackPath}`,
    callbackToken: secret(),
    secretKey: `xnd_torture_${secret()}`,
    smtpPort: await findFreePort(),
  };
  const binary = await findTemporalBinary(say);
  const key = () => randomBytes(32).toString('base64');
  const keys = { data: key(), seal: key() };

  const shared = {
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '',
    NODE_ENV: 'test',
    LOG_LEVEL: 'info',
    DATABASE_POOL_SIZE: '12',
    TEMPORAL_TASK_QUEUE: taskQueue,
    S3_ENDPOINT: 'http://127.0.0.1:1',
    S3_BUCKET: 'torture',
    S3_ACCESS_KEY_ID: 'torture',
    S3_SECRET_ACCESS_KEY: 'torture',
    XENDIT_SECRET_KEY: sandboxOptions.secretKey,
    XENDIT_CALLBACK_TOKEN: sandboxOptions.callbackToken,
    DATA_ENCRYPTION_KEYS: `torture:${keys.data}`,
    SEAL_SIGNING_KEY: `torture:${keys.seal}`,
    WEBHOOK_ALLOW_LOOPBACK: 'true',
    SMTP_URL: `smtp://127.0.0.1:${sandboxOptions.smtpPort}`,
    MAIL_FROM: 'no-reply@amanah.example',
    RATE_LIMIT_REQUESTS_PER_10S: '100000',
    ...moneyOutTerms,
    // Tokens live for a day, so that requests under a moved clock are not all refused.
    AUTH_TOKEN_TTL_SECONDS: '86400',
  };
  const environment = (owner: ServiceName | 'runner'): Record<string, string> => {
    const port = (to: 'postgres' | 'temporal' | 'sandbox') => {
      const way = linkNames.find((name) => name === `${owner}>${to}`);
      return way === undefined ? ports[to] : link(way).port;
    };
    const databaseUrl = postgresUrl({ ...postgres, port: port('postgres'), role: applicationRole });
    const apiPort = owner === 'runner' ? ports.api1 : ports[owner];
    return {
      ...shared,
      PORT: String(apiPort),
      // One address for all processes: e-wallets return to it, and a worker may repeat another's request.
      PUBLIC_URL: `http://127.0.0.1:${ports.api1}`,
      DATABASE_URL: databaseUrl,
      KEYS_DATABASE_URL: keysUrlBeside(databaseUrl),
      TEMPORAL_ADDRESS: `127.0.0.1:${port('temporal')}`,
      XENDIT_URL: `http://127.0.0.1:${port('sandbox')}`,
    };
  };
  let WORKFLOW_BUNDLE = '';
  const begin = (name: PartName): Promise<Part> => {
    const place = { logFile: logFile(name) };
    if (name === 'postgres') return startPostgres(postgres, place);
    if (name === 'temporal') return startTemporal({ binary, port: ports.temporal, databaseFile: temporalFile }, place);
    if (name === 'sandbox') return startSandbox(sandboxOptions, place);
    const env = { ...environment(name), ...followClock(join(clocks, name)), WORKFLOW_BUNDLE };
    if (name.startsWith('api')) return startApi({ ...place, env: { ...env, TMPDIR: uploads } });
    const build = builds.get(name);
    const version = build === undefined ? {} : { WORKER_DEPLOYMENT_NAME: deploymentName, WORKER_BUILD_ID: build };
    return startWorker({ ...place, env: { ...env, ...version } });
  };
  const starting = new Map<PartName, Promise<void>>();
  /** Starts a part once, even if two faults restart it at the same time. */
  const start: Topology['start'] = (name) => {
    const under = starting.get(name) ?? startNow(name).finally(() => starting.delete(name));
    starting.set(name, under);
    return under;
  };
  const startNow = async (name: PartName) => {
    if (parts.get(name)?.isRunning()) return;
    const part = await begin(name);
    parts.set(name, part);
    void part.exited.then(({ code, signal }) => {
      if (!told.has(part)) died.push(`${name} exited unexpectedly (${signal ?? `code ${code}`})`);
    });
  };
  const end = async (name: PartName, how: (part: Part) => void | Promise<void>) => {
    const part = parts.get(name);
    if (part === undefined || !part.isRunning()) return;
    told.add(part);
    await how(part);
    await part.exited;
  };
  const kill = (name: PartName) =>
    end(name, (part) => {
      // Kills the foreign process inside a part; its keeper exits with it.
      if (part.inner === undefined) part.kill('SIGKILL');
      else process.kill(part.inner, name === 'postgres' ? 'SIGQUIT' : 'SIGKILL');
    });
  const stopAll = async () => {
    for (const group of [['api1', 'api2', 'worker1', 'worker2'], ['sandbox', 'temporal'], ['postgres']] as const) {
      await Promise.all(group.map((name) => end(name, (part) => part.stop())));
    }
    for (const proxy of links.values()) await proxy.close();
    if (kept && disks.get('api')) cpSync(join(apiDirectory, 'logs'), join(directory, 'logs'), { recursive: true });
    if (kept && disks.get('postgres')) cpSync(postgres.directory, join(directory, 'postgres'), { recursive: true });
    for (const disk of disks.values()) disk?.unmount();
    if (!kept) rmSync(directory, { recursive: true, force: true });
  };

  let deps: Dependencies | undefined;
  let owner: MikroORM | undefined;
  try {
    [WORKFLOW_BUNDLE] = await Promise.all([
      ensureWorkflowBundle({ logFile: logFile('bundle') }),
      start('postgres').then(() => migrateWhenReached(postgresUrl(postgres), postgres.password)),
      start('temporal'),
      start('sandbox'),
    ]);
    deps = await openDependencies(readConfig(environment('runner')), { process: 'torture' });
    owner = await openDatabase({ url: postgresUrl(postgres), poolSize: 2 });
    await keepTransitions(owner.em.fork());
    await Promise.all(serviceNames.map((name) => start(name)));
  } catch (error) {
    say(`The product did not start; its data and logs: ${directory}`);
    kept = true;
    writeFileSync(join(directory, keptMark), '');
    await deps?.[Symbol.asyncDispose]();
    await owner?.close(true);
    await stopAll();
    throw error;
  }
  const own = deps;
  const owning = owner;
  const sandboxUrl = `http://127.0.0.1:${ports.sandbox}`;
  return {
    directory,
    deps: own,
    em: () => own.orm.em.fork(),
    owner: () => owning.em.fork(),
    ownerUrl: postgresUrl(postgres),
    apiUrls: [`http://127.0.0.1:${link('client>api1').port}`, `http://127.0.0.1:${link('client>api2').port}`],
    api: createHttp(`http://127.0.0.1:${ports.api1}`),
    sandbox: { ...createHttp(sandboxUrl), url: sandboxUrl },
    callbackUrl: `http://127.0.0.1:${ports.api2}${callbackPath}`,
    callbackToken: sandboxOptions.callbackToken,
    secrets: [sandboxOptions.callbackToken, sandboxOptions.secretKey, postgres.password, keys.data, keys.seal],
    webhookUrl: `http://127.0.0.1:${link('workers>receiver').port}/sandbox/webhooks`,
    link,
    part: (name) => parts.get(name),
    logFile,
    temporalFiles: ['', '-wal'].map((suffix) => `${temporalFile}${suffix}`),
    start,
    kill,
    stop: (name) => end(name, (part) => part.stop(30_000)),
    signal: (name, signal) => {
      const part = parts.get(name);
      if (!part?.isRunning()) return;
      const pid = part.inner ?? part.pid;
      process.kill(pid, signal);
      // PostgreSQL has a process for each connection.
      for (const child of name === 'postgres' ? childrenOf(pid) : []) process.kill(child, signal);
    },
    disk: (name) => disks.get(name) ?? null,
    moveClock: (name, offsetMs) => moveClock(join(clocks, name), offsetMs),
    setBuild: (name, buildId) => void builds.set(name, buildId),
    buildOf: (name) => builds.get(name) ?? null,
    temporalCommand: async (args) => {
      const address = ['--address', `127.0.0.1:${ports.temporal}`, '--namespace', own.config.TEMPORAL_NAMESPACE];
      const { stdout } = await runFile(binary, [...args, ...address], { timeout: commandMs });
      return stdout;
    },
    temporalAnswers: async () => {
      const nobody = own.workflows.client.workflow.getHandle('nobody');
      return own.workflows.client
        .withDeadline(Date.now() + commandMs, () => nobody.describe())
        .then(
          () => true,
          (error: unknown) => error instanceof WorkflowNotFoundError,
        );
    },
    mayEnd: (name) => {
      const part = parts.get(name);
      if (part !== undefined) told.add(part);
    },
    loseTemporal: async () => {
      await starting.get('temporal')?.catch(() => undefined);
      await kill('temporal');
      for (const suffix of ['', '-shm', '-wal', '-journal']) rmSync(`${temporalFile}${suffix}`, { force: true });
    },
    died,
    keep: () => {
      kept = true;
      writeFileSync(join(directory, keptMark), '');
    },
    async [Symbol.asyncDispose]() {
      await own[Symbol.asyncDispose]();
      await owning.close(true);
      await stopAll();
    },
  };
}

/** Removes the directories of killed runs, but not those marked as kept. */
function removeAbandonedDirectories(): void {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(prefix))) {
    const directory = join(tmpdir(), name);
    const pid = Number(name.slice(prefix.length).split('-')[0]);
    if (startMarkOf(pid) !== undefined || existsSync(join(directory, keptMark))) continue;
    for (const disk of diskNames) unmountSmallDisk(join(directory, 'disks', disk));
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The child processes of a process; none if the system cannot list them. */
function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

const migrationTries = 5;

/** Migrates, with retries, because connections may time out while everything starts. */
async function migrateWhenReached(url: string, password: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await migrate(url, { [applicationRole]: password });
      await makeKeysDatabase(keysUrlBeside(url));
      return;
    } catch (error) {
      if (attempt >= migrationTries || !/timeout/i.test(String(error))) throw error;
    }
  }
}
