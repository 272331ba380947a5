import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EntityManager } from '@mikro-orm/postgresql';
import { ensureWorkflowBundle } from '../../dev/bundle.ts';
import type { Part } from '../../dev/part.ts';
import { findFreePort } from '../../dev/ports.ts';
import { postgresUrl, startPostgres } from '../../dev/postgres.ts';
import { startMarkOf } from '../../dev/process-records.ts';
import { callbackPath, startSandbox } from '../../dev/sandbox-part.ts';
import { startApi, startWorker } from '../../dev/service-parts.ts';
import { startTcpProxy, type TcpProxy } from '../../dev/tcp-proxy.ts';
import { startTemporal } from '../../dev/temporal.ts';
import { findTemporalBinary } from '../../dev/temporal-binary.ts';
import { readConfig } from '../../src/config.ts';
import { type Dependencies, openDependencies } from '../../src/dependencies.ts';
import { migrate } from '../../src/migrate.ts';
import { createHttp, type Http } from '../support/http.ts';
import { keepTransitions } from './keep-transitions.ts';
import { type LinkName, linkNames, type PartName, type ServiceName, serviceNames } from './parts.ts';
import { mountSmallDisk, type SmallDisk, unmountSmallDisk } from './small-disk.ts';

/** The whole product as processes, each pair of parts connected through a proxy. */
export interface Topology extends AsyncDisposable {
  /** Data and logs; removed at the end unless something was found. */
  directory: string;
  /** The runner's own way in, past all proxies. */
  deps: Dependencies;
  em(): EntityManager;
  /** Where clients find the two APIs: through proxies. */
  apiUrls: readonly [string, string];
  /** The first API past its proxy, for building the cast. */
  api: Http;
  sandbox: Http & { url: string };
  callbackUrl: string;
  callbackToken: string;
  /** Where partners' webhooks go: through a proxy to the sandbox's receiver. */
  webhookUrl: string;
  link(name: LinkName): TcpProxy;
  part(name: PartName): Part | undefined;
  logFile(name: string): string;
  /** Starts a part that does not run. */
  start(name: PartName): Promise<void>;
  /** Ends it without warning (PostgreSQL by an immediate shutdown: what was committed stays), and waits until it is gone. */
  kill(name: PartName): Promise<void>;
  stop(name: PartName): Promise<void>;
  signal(name: PartName, signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** PostgreSQL's disk, where it could be given one of its own. */
  disk: SmallDisk | null;
  /** From now on it may end by itself: what it needs is taken from it. */
  mayEnd(name: PartName): void;
  /** Kills Temporal and takes its data, also when another fault is just starting it. */
  loseTemporal(): Promise<void>;
  /** Parts that ended without having been told to. */
  died: string[];
  /** Keeps data and logs after the end. */
  keep(): void;
}

const prefix = 'amanah-torture-';
const taskQueue = 'payments';
/** Only a power cut would be noticed, and there is none here. When a transaction was committed is asked by oracles. */
const settings = {
  fsync: 'off',
  full_page_writes: 'off',
  max_connections: '200',
  log_checkpoints: 'off',
  track_commit_timestamp: 'on',
  max_wal_size: '128MB',
};

/** Starts PostgreSQL, Temporal, the sandbox, two APIs and two workers, with a proxy on every way between two of them. */
export async function startTopology(say: (sentence: string) => void): Promise<Topology> {
  removeAbandonedDirectories();
  const directory = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`));
  const disk = mountSmallDisk(join(directory, 'disk'));
  const logFile = (name: string) => join(directory, 'logs', `${name}.log`);
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
    directory: join(disk?.directory ?? directory, 'postgres'),
    settings,
  };
  const temporalFile = join(directory, 'temporal.db');
  const sandboxOptions = {
    port: ports.sandbox,
    directory: join(directory, 'sandbox'),
    callbackUrl: `http://127.0.0.1:${link('sandbox>api').port}${callbackPath}`,
    callbackToken: secret(),
    secretKey: `xnd_torture_${secret()}`,
  };
  const binary = await findTemporalBinary(say);

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
    DATA_ENCRYPTION_KEYS: `torture:${randomBytes(32).toString('base64')}`,
    WEBHOOK_ALLOW_LOOPBACK: 'true',
    RATE_LIMIT_REQUESTS_PER_10S: '100000',
  };
  const environment = (owner: ServiceName | 'runner'): Record<string, string> => {
    const port = (to: 'postgres' | 'temporal' | 'sandbox') =>
      owner === 'runner' ? ports[to] : link(`${owner}>${to}`).port;
    const apiPort = owner === 'runner' ? ports.api1 : ports[owner];
    return {
      ...shared,
      PORT: String(apiPort),
      PUBLIC_URL: `http://127.0.0.1:${apiPort}`,
      DATABASE_URL: postgresUrl({ ...postgres, port: port('postgres') }),
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
    const env = { ...environment(name), WORKFLOW_BUNDLE };
    return name.startsWith('api') ? startApi({ ...place, env }) : startWorker({ ...place, env });
  };
  const starting = new Map<PartName, Promise<void>>();
  /** Two faults may want the same part back: it is started once. */
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
      if (!told.has(part)) died.push(`${name} ended by itself (${signal ?? `code ${code}`})`);
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
      // A foreign process is ended itself: its keeper ends with it.
      if (part.inner === undefined) part.kill('SIGKILL');
      else process.kill(part.inner, name === 'postgres' ? 'SIGQUIT' : 'SIGKILL');
    });
  const stopAll = async () => {
    for (const group of [['api1', 'api2', 'worker1', 'worker2'], ['sandbox', 'temporal'], ['postgres']] as const) {
      await Promise.all(group.map((name) => end(name, (part) => part.stop())));
    }
    for (const proxy of links.values()) await proxy.close();
    disk?.unmount();
    if (!kept) rmSync(directory, { recursive: true, force: true });
  };

  let deps: Dependencies | undefined;
  try {
    [WORKFLOW_BUNDLE] = await Promise.all([
      ensureWorkflowBundle({ logFile: logFile('bundle') }),
      start('postgres').then(() => migrateWhenReached(postgresUrl(postgres))),
      start('temporal'),
      start('sandbox'),
    ]);
    deps = await openDependencies(readConfig(environment('runner')), { process: 'torture' });
    await keepTransitions(deps.orm.em.fork());
    await Promise.all(serviceNames.map((name) => start(name)));
  } catch (error) {
    await deps?.[Symbol.asyncDispose]();
    await stopAll();
    throw error;
  }
  const own = deps;
  const sandboxUrl = `http://127.0.0.1:${ports.sandbox}`;
  return {
    directory,
    deps: own,
    em: () => own.orm.em.fork(),
    apiUrls: [`http://127.0.0.1:${link('client>api1').port}`, `http://127.0.0.1:${link('client>api2').port}`],
    api: createHttp(`http://127.0.0.1:${ports.api1}`),
    sandbox: { ...createHttp(sandboxUrl), url: sandboxUrl },
    callbackUrl: `http://127.0.0.1:${ports.api2}${callbackPath}`,
    callbackToken: sandboxOptions.callbackToken,
    webhookUrl: `http://127.0.0.1:${link('workers>receiver').port}/sandbox/webhooks`,
    link,
    part: (name) => parts.get(name),
    logFile,
    start,
    kill,
    stop: (name) => end(name, (part) => part.stop(30_000)),
    signal: (name, signal) => {
      const part = parts.get(name);
      if (part?.isRunning()) process.kill(part.inner ?? part.pid, signal);
    },
    disk,
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
    },
    async [Symbol.asyncDispose]() {
      await own[Symbol.asyncDispose]();
      await stopAll();
    },
  };
}

/** A run that was killed cannot remove its scratch; one that found something keeps it, with its facts. */
function removeAbandonedDirectories(): void {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(prefix))) {
    const directory = join(tmpdir(), name);
    const pid = Number(name.slice(prefix.length).split('-')[0]);
    if (startMarkOf(pid) !== undefined || existsSync(join(directory, 'facts.json'))) continue;
    unmountSmallDisk(join(directory, 'disk'));
    rmSync(directory, { recursive: true, force: true });
  }
}

const migrationTries = 5;

/** A machine that is busy starting everything may keep a connection waiting for longer than the product would. */
async function migrateWhenReached(url: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await migrate(url);
      return;
    } catch (error) {
      if (attempt >= migrationTries || !/timeout/i.test(String(error))) throw error;
    }
  }
}
