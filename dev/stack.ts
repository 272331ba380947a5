import { copyFileSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { ensureWorkflowBundle } from './bundle.ts';
import { type Credentials, credentialsFile } from './credentials.ts';
import type { Part, PartPlace } from './part.ts';
import { type Plan, planStack, portNames } from './plan.ts';
import { isPortFree, keepPorts } from './ports.ts';
import { startPostgres } from './postgres.ts';
import { prepareDatabase } from './prepare-database.ts';
import { writePrivateJson } from './private-file.ts';
import { ProcessRecords } from './process-records.ts';
import type { Progress } from './progress.ts';
import { startS3 } from './s3.ts';
import { startSandbox } from './sandbox-part.ts';
import { keepSecrets, type Secrets } from './secrets.ts';
import { startApi, startWorker } from './service-parts.ts';
import type { Settings } from './settings.ts';
import { StackError } from './stack-error.ts';
import { type SupervisedPart, supervise } from './supervisor.ts';
import { startTemporal } from './temporal.ts';
import { findTemporalBinary } from './temporal-binary.ts';

/** Groups stop in this order: each part before the parts that it uses. */
const stopOrder = [['api', 'worker'], ['sandbox'], ['temporal', 's3'], ['postgres']] as const;
const logCheckMs = 60_000;
type PartName = (typeof stopOrder)[number][number];

export interface StackInput {
  settings: Settings;
  env: NodeJS.ProcessEnv;
  progress: Progress;
  /** Aborting it stops the stack, also while it starts. */
  signal: AbortSignal;
}

/** The parts of one stack on one data directory, which the caller has locked. */
export class Stack {
  readonly #input: StackInput;
  readonly #records: ProcessRecords;
  readonly #parts = new Map<PartName, SupervisedPart>();
  readonly #directory: string;
  #logWatch: NodeJS.Timeout | undefined;

  constructor(input: StackInput) {
    this.#input = input;
    this.#directory = input.settings.DATA_DIR;
    this.#records = new ProcessRecords(this.#directory);
  }

  /** Starts every part that the environment does not replace. Throws StackError if a part cannot start. */
  async start(): Promise<Credentials> {
    const { settings, progress } = this.#input;
    const ended = await this.#records.endLeftovers();
    if (ended.length > 0) progress.note(`Stopped parts that a killed stack had left running: ${ended.join(', ')}.`);
    const { ports, moved } = await keepPorts(this.#directory, portNames);
    for (const sentence of moved) progress.note(sentence);
    const secrets = keepSecrets(this.#directory);
    const plan = planStack(settings, ports, secrets);
    await refuseTakenPort('PORT', plan.apiPort);
    if (plan.temporal) await refuseTakenPort('TEMPORAL_UI_PORT', plan.temporal.uiPort);

    mkdirSync(join(this.#directory, 'logs'), { recursive: true });
    this.#logWatch = setInterval(() => boundLogs(join(this.#directory, 'logs')), logCheckMs).unref();
    return this.#startParts(plan, secrets);
  }

  /** Stops the running parts, each before the parts that it uses. */
  async stop(): Promise<void> {
    clearInterval(this.#logWatch);
    rmSync(join(this.#directory, 'environment.json'), { force: true });
    for (const group of stopOrder) await Promise.all(group.map((name) => this.#parts.get(name)?.stop()));
  }

  /**
   * Starts all parts at once, except the API, which waits for the database and the credentials file, and the worker,
   * which waits for the migration, Temporal and the workflow bundle.
   */
  async #startParts(plan: Plan, secrets: Secrets): Promise<Credentials> {
    const { progress } = this.#input;
    const { postgres, s3, sandbox, urls } = plan;
    const migrated = Promise.withResolvers<void>();
    const temporal = this.#startTemporal(plan);
    const bundle = progress.step('Workflow bundle', () => ensureWorkflowBundle(this.#place('bundle')));

    const prepare = async (): Promise<Credentials> => {
      if (!postgres) progress.say('PostgreSQL', 'replaced by DATABASE_URL');
      else await this.#run('postgres', 'PostgreSQL', `127.0.0.1:${postgres.port}`, (it) => startPostgres(postgres, it));
      const options = {
        ownerUrl: urls.database,
        keysOwnerUrl: plan.keysOwnerUrl,
        services: plan.services,
        dataDirectory: postgres ? this.#directory : null,
        webhookUrl: sandbox ? `${urls.sandbox}/sandbox/webhooks` : null,
        secrets,
      };
      const prepareIt = () => prepareDatabase(options, this.#place('database'), migrated.resolve);
      const { users, partner } = await progress.step('Database', prepareIt);
      const credentials = { urls, ...users, partner, gateway_callback_token: plan.callbackToken };
      this.#write(credentialsFile, credentials);
      // Commands find the stack as soon as its API serves.
      this.#write('environment.json', { pid: process.pid, environment: plan.services });
      return credentials;
    };
    const prepared = prepare();
    const runS3 = async () => {
      if (!s3) return progress.say('S3', 'replaced by S3_ENDPOINT');
      await this.#run('s3', 'S3', `127.0.0.1:${s3.port}`, (it) => startS3(s3, it));
    };
    const runSandbox = async () => {
      if (!sandbox) return progress.say('Sandbox provider', 'replaced by XENDIT_URL');
      await this.#run('sandbox', 'Sandbox provider', urls.sandbox ?? '', (it) => startSandbox(sandbox, it));
    };
    const { MIGRATION_DATABASE_URL: _, MIGRATION_KEYS_DATABASE_URL: __, ...given } = this.#input.env;
    const env = { ...given, ...plan.services };
    let worksAlready = false;
    const runApi = async () => {
      await prepared;
      await this.#run('api', 'API', urls.api, (it) => startApi({ ...it, env }));
      if (!worksAlready) progress.say('API', 'answers; requests that need a workflow get 503 until the worker runs');
    };
    const runWorker = async () => {
      const [WORKFLOW_BUNDLE] = await Promise.all([bundle, migrated.promise, temporal]);
      const own = { ...env, WORKFLOW_BUNDLE, WORKER_PORT: String(plan.workerPort) };
      const metrics = `http://127.0.0.1:${plan.workerPort}/metrics`;
      await this.#run('worker', 'Worker', metrics, (it) => startWorker({ ...it, env: own }));
      worksAlready = true;
    };

    const all = [prepared, temporal, bundle, runS3(), runSandbox(), runApi(), runWorker()] as const;
    for (const one of all) one.catch(() => undefined);
    const [credentials] = await Promise.all(all);
    return credentials;
  }

  async #startTemporal({ temporal, urls }: Plan): Promise<void> {
    const { progress } = this.#input;
    if (!temporal) return progress.say('Temporal', 'replaced by TEMPORAL_ADDRESS');
    const binary = await findTemporalBinary((sentence) => progress.say('Temporal', sentence), this.#input.signal);
    await this.#run('temporal', 'Temporal', urls.temporal_address, (it) => startTemporal({ ...temporal, binary }, it));
  }

  async #run(name: PartName, title: string, where: string, start: (place: PartPlace) => Promise<Part>): Promise<void> {
    const { progress, signal } = this.#input;
    const place = this.#place(name);
    const say = (sentence: string) => progress.note(`${sentence} (log: ${place.logFile}).`);
    const starting = () => supervise(() => start(place), say, signal);
    const supervised = await progress.step(title, starting, () => where);
    this.#parts.set(name, supervised);
    if (signal.aborted) await supervised.stop();
  }

  #place(name: string): PartPlace {
    return {
      logFile: join(this.#directory, 'logs', `${name}.log`),
      onProcess: (pid) => this.#records.add(name, pid),
      onGone: (pid) => this.#records.remove(pid),
      signal: this.#input.signal,
    };
  }

  #write(file: string, content: unknown): void {
    writePrivateJson(join(this.#directory, file), content);
  }
}

async function refuseTakenPort(variable: string, port: number): Promise<void> {
  if (await isPortFree(port)) return;
  throw new StackError(`Port ${port} is in use by another program: set ${variable} to a free one.`);
}

const maximumLogBytes = 20 * 1024 * 1024;

/** Copies a log above the maximum size to `.1` and empties it; its writers append, so they can keep writing. */
function boundLogs(directory: string): void {
  for (const name of readdirSync(directory).filter((entry) => entry.endsWith('.log'))) {
    const file = join(directory, name);
    if (statSync(file).size <= maximumLogBytes) continue;
    copyFileSync(file, `${file}.1`);
    truncateSync(file);
  }
}
