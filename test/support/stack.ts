import { once as eventOf } from 'node:events';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import type { EntityManager } from '@mikro-orm/postgresql';
import { ScheduleNotFoundError } from '@temporalio/client';
import { findFreePort } from '../../dev/ports.ts';
import { startSandbox } from '../../dev/sandbox/start-sandbox.ts';
import { callbackPath } from '../../dev/sandbox-part.ts';
import { startWorker } from '../../dev/service-parts.ts';
import { createHttpServer } from '../../src/platform/http/create-http-server.ts';
import { createApp } from '../../src/wiring/app.ts';
import type { Dependencies } from '../../src/wiring/dependencies.ts';
import { openDatabase } from '../../src/wiring/open-database.ts';
import { openTemporal } from '../../src/wiring/temporal/connect.ts';
import { schedules } from '../../src/wiring/temporal/prepare.ts';
import { brokenChecks } from './broken-checks.ts';
import { cloneDatabase, letOwnerWait, type TestDatabase } from './database.ts';
import { createSecrets, silenceMs, testEnvironment } from './environment.ts';
import { createHttp, type Http } from './http.ts';
import { openPatiently } from './open-patiently.ts';
import { isRecording, recordHistories } from './record-histories.ts';
import { testRun } from './run.ts';
import { borrowStack, once, settingsOf } from './shared-stacks.ts';
import { startWorkerHere, type WorkerHere } from './worker-here.ts';

export { eventually } from './eventually.ts';

export interface StackOptions {
  /**
   * Do not share the stack: for a file that plants corruptions, alters tables, pauses schedules or workers, counts all
   * rows, or depends on the time of a sweep. Options that only such a file needs imply it.
   */
  own?: boolean;
  /** A worker on the stack's own task queue: in this process, or with armed failpoints in its own. */
  worker?: boolean;
  /** The sandbox provider, in this process; always started with a shared worker. */
  sandbox?: boolean;
  /** Failpoints armed in the worker, as in `FAILPOINTS`. */
  workerFailpoints?: string;
  /** A migrated database on the test's own server, instead of the run's. */
  database?: TestDatabase;
  /** Variables that differ from the usual ones. */
  env?: Record<string, string>;
  /**
   * The stack's client returns each 503, for a test that expects one. Otherwise it retries, because an overloaded
   * machine causes 503s in unrelated tests.
   */
  isImpatient?: boolean;
  /** Creates another application over the same dependencies, e.g. with the test's own route groups. */
  createApp?: (deps: Dependencies) => { callback(): RequestListener };
}

export interface Stack extends Http, AsyncDisposable {
  /** The URL of the API, which runs in this process on a free port. */
  url: string;
  http: Http;
  deps: Dependencies;
  /** The URLs of the stack's database for the owner, the application and the reader. */
  databaseUrls: { owner: string; app: string; reader: string };
  /** The environment of its processes. */
  env: Record<string, string>;
  callbackToken: string;
  /** A client of the sandbox provider, if it was requested. */
  sandbox: Http & { url: string };
  worker: WorkerHere | undefined;
  /** The id of the instant at which a shared stack was given to this file. */
  since?: string;
  /** Registers a function that undoes a change to the stack before another file uses it. */
  afterwards(undo: () => Promise<unknown>): void;
  /** A new entity manager with the rights of the product. */
  em(): EntityManager;
  /** A new entity manager with the rights of the owner, to plant rows that the product may not write. */
  owner(): EntityManager;
  stop(): Promise<void>;
}

/**
 * Starts the product as shipped: database, task queue, application, and the processes requested. Files of a jest worker
 * with the same settings share a stack; each file creates its own people, organizations and partners.
 */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const { own, isImpatient, worker = false, sandbox = worker, env = {}, ...rest } = options;
  if (own || Object.keys(rest).length > 0 || isRecording()) return startOwnStack(options);
  const key = JSON.stringify([worker, sandbox, settingsOf(env)]);
  const borrowed = await borrowStack(
    key,
    () => startOwnStack({ worker, sandbox, env: { ...env, LOG_LEVEL: 'silent' }, keepsDatabase: true }),
    testRun().directory,
  );
  if (borrowed === null) return startOwnStack(options);
  const http = createHttp(borrowed.stack.url, { isPatient: isImpatient !== true });
  const stop = once(borrowed.giveBack);
  const [{ since }] = await borrowed.stack.em().execute<[{ since: string }]>('select uuidv7() as since');
  return { ...borrowed.stack, ...http, http, since, stop, [Symbol.asyncDispose]: stop };
}

async function startOwnStack(options: OwnStackOptions): Promise<Stack & { calm(): Promise<void> }> {
  const cleanups: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  };
  try {
    return await buildStack(options, cleanups, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

interface OwnStackOptions extends StackOptions {
  /** Keeps the database, because the stack's books are checked again when the run ends. */
  keepsDatabase?: boolean;
}

async function buildStack(
  options: OwnStackOptions,
  cleanups: (() => Promise<unknown>)[],
  stop: () => Promise<void>,
): Promise<Stack & { calm(): Promise<void> }> {
  const run = testRun();
  const secrets = createSecrets();
  const logs = join(run.directory, 'logs', secrets.taskQueue);
  const database = options.database ?? (await cloneDatabase());
  if (!options.keepsDatabase) cleanups.push(database.drop);
  if (options.database === undefined) await letOwnerWait(database);

  let serve: RequestListener = (_request, response) => void response.writeHead(503).end();
  const server = createHttpServer((request, response) => serve(request, response), { maxConnections: 10_000 });
  server.listen(0, '127.0.0.1');
  await eventOf(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no address');
  const url = `http://127.0.0.1:${address.port}`;

  const sandboxPort = await findFreePort();
  const smtpPort = await findFreePort();
  const sandboxUrl = `http://127.0.0.1:${sandboxPort}`;
  const env = {
    ...testEnvironment(
      { databaseUrl: database.url, temporalAddress: run.temporal.address, url, sandboxUrl, smtpPort },
      secrets,
    ),
    ...options.env,
  };
  // The product gives up on a slow connection; a test waits.
  const connectWithinMs = 30_000;
  const owner = await openDatabase({ url: database.ownerUrl, poolSize: 12, connectWithinMs });
  cleanups.push(() => owner.close(true));
  const application = await openDatabase({ url: database.url, poolSize: 16, connectWithinMs });
  cleanups.push(() => application.close(true));
  const deps = await openPatiently(env);
  cleanups.push(() => Promise.resolve(deps[Symbol.asyncDispose]()));
  cleanups.push(() => recordHistories(deps.orm.em.fork(), deps.config.TEMPORAL_ADDRESS, deps.workflows.taskQueue));
  cleanups.push(() => deleteSchedules(deps.config.TEMPORAL_ADDRESS, deps.workflows.taskQueue).catch(() => undefined));
  serve = options.createApp ? options.createApp(deps).callback() : createApp(deps).callback();
  cleanups.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const startSandboxHere = async () => {
    const started = await startSandbox({
      port: sandboxPort,
      dataDir: join(run.directory, 'sandbox', secrets.taskQueue),
      callbackUrl: `${url}${callbackPath}`,
      callbackToken: secrets.callbackToken,
      secretKey: secrets.sandboxKey,
      smtpPort,
      silenceMs,
    });
    cleanups.push(() => started.stop());
  };
  const startWorkerPart = async () => {
    const { workerFailpoints: failpoints } = options;
    const part =
      failpoints === undefined
        ? await startWorkerHere(env)
        : await startWorker({ env: { ...env, FAILPOINTS: failpoints }, logFile: join(logs, 'worker.log') });
    cleanups.push(() => part.stop());
    return part;
  };
  const [, worker] = await Promise.all([
    options.sandbox ? startSandboxHere() : undefined,
    options.worker ? startWorkerPart() : undefined,
  ]);

  const http = createHttp(url, { isPatient: options.isImpatient !== true });
  const atSandbox = createHttp(sandboxUrl);
  const undos: (() => Promise<unknown>)[] = [];
  return {
    ...http,
    http,
    afterwards: (undo) => void undos.push(undo),
    calm: async () => {
      for (const undo of undos.splice(0)) await undo();
      if (options.sandbox) await atSandbox.put('/sandbox/faults', {});
    },
    url,
    deps,
    databaseUrls: { owner: database.ownerUrl, app: database.url, reader: database.readerUrl },
    env,
    callbackToken: secrets.callbackToken,
    sandbox: { ...atSandbox, url: sandboxUrl },
    worker,
    em: () => application.em.fork(),
    owner: () => owner.em.fork(),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/**
 * Deletes the schedules that a stack's workers created, which would keep the server busy for later files. Does nothing
 * if the server is down or has no schedules.
 */
async function deleteSchedules(address: string, taskQueue: string): Promise<void> {
  // The product's client, whose close waits for retries: on a closed channel they would crash the test file.
  const client = openTemporal({ address, namespace: 'default' });
  try {
    await client.withDeadline(Date.now() + 2_000, () => client.workflowService.getSystemInfo({}));
    const deleteOne = ({ scheduleId }: { scheduleId: string }) =>
      client.schedule
        .getHandle(`${taskQueue}/${scheduleId}`)
        .delete()
        .catch((error: unknown) => {
          if (!(error instanceof ScheduleNotFoundError)) throw error;
        });
    await client.withDeadline(Date.now() + 10_000, () => Promise.all(schedules.map(deleteOne)));
  } finally {
    await client.connection.close();
  }
}

/** Accounts that must not be negative, but are at some line of their statement. */
const belowZero = `
  select account_id, min(balance)::text as balance from (
    select p.account_id, sum(p.amount) over (partition by p.account_id order by p.created_at, p.id) as balance
    from postings p join accounts a on a.id = p.account_id where not a.may_go_negative) line
  where balance < 0 group by account_id`;

/**
 * Expects every `check_*` view of the stack's database to be empty, and no account statement to show an overdraft. Of a
 * shared stack it reads what is newer than the file; the run ends by reading all (global-teardown.ts).
 */
export async function expectChecksEmpty({ em, since }: Pick<Stack, 'em' | 'since'>): Promise<void> {
  expect(await em().execute(belowZero)).toEqual([]);
  expect(await brokenChecks(em(), since)).toEqual([]);
}
