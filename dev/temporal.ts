import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { answersForNamespace } from './grpc-ready.ts';
import { keep } from './keep.ts';
import { type Part, type PartPlace, type ReadyMessage, readPartOptions, startPart } from './part.ts';

const optionsSchema = z.object({
  binary: z.string(),
  port: z.number().int(),
  /** Without a port there is no web UI. */
  uiPort: z.number().int().optional(),
  /** Without a file everything stays in memory. */
  databaseFile: z.string().optional(),
  /**
   * How long the histories of closed workflows are retained, in the format of Temporal's command line; a day by
   * default.
   */
  retention: z.string().optional(),
});

export type TemporalOptions = z.input<typeof optionsSchema>;

const readyWithinMs = 60_000;
const stopGraceMs = 5_000;
const pollMs = 40;

/** The default rate limits would delay every second task by 50 ms, and partitioned queues would stall for seconds. */
const dynamicConfig = {
  'history.transferProcessorMaxPollRPS': 10_000,
  'history.timerProcessorMaxPollRPS': 10_000,
  'history.visibilityProcessorMaxPollRPS': 10_000,
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
};

/** Registered at the start, so that the first workflow does not wait until the worker's registration takes effect. */
const searchAttributes = {
  PaymentState: 'Keyword',
  PayoutState: 'Keyword',
  ReferenceType: 'Keyword',
  PartnerId: 'Keyword',
  OrganizationId: 'Keyword',
  AmountIdr: 'Int',
};

/** Starts a Temporal development server as its own part; the namespace is `default`. */
export function startTemporal(options: TemporalOptions, part: PartPlace): Promise<Part> {
  return startPart({
    ...part,
    name: 'Temporal',
    script: import.meta.filename,
    env: process.env,
    options,
    readyWithinMs,
  });
}

async function run(): Promise<void> {
  const { binary, port, uiPort, databaseFile, retention } = optionsSchema.parse(readPartOptions());
  if (databaseFile) mkdirSync(dirname(databaseFile), { recursive: true, mode: 0o700 });
  const args = [
    ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port), '--log-level', 'error'],
    ...(uiPort === undefined ? ['--headless'] : ['--ui-port', String(uiPort)]),
    // Does not wait for the disk: writes survive every exit of a process; only a power cut could lose them.
    ...(databaseFile === undefined ? [] : ['--db-filename', databaseFile, '--sqlite-pragma', 'synchronous=OFF']),
    ...Object.entries(dynamicConfig).flatMap(([name, value]) => ['--dynamic-config-value', `${name}=${value}`]),
    ...Object.entries(searchAttributes).flatMap(([name, type]) => ['--search-attribute', `${name}=${type}`]),
  ];
  const server = spawn(binary, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  server.on('error', () => process.exit(1));
  keep(server, { stopSignal: 'SIGTERM', hardSignal: 'SIGTERM', graceMs: stopGraceMs });
  while (!(await answersForNamespace(`127.0.0.1:${port}`, 'default'))) await sleep(pollMs);
  const message: ReadyMessage = server.pid === undefined ? { ready: true } : { ready: true, inner: server.pid };
  process.send?.(message);
  if (retention !== undefined) setRetention(binary, port, retention);
}

/** Sets the retention by a command, because the server has no argument for it. Callers do not wait for this. */
function setRetention(binary: string, port: number, retention: string): void {
  const place = ['--address', `127.0.0.1:${port}`, '--namespace', 'default'];
  const update = spawn(binary, ['operator', 'namespace', 'update', ...place, '--retention', retention], {
    stdio: ['ignore', 'ignore', 'inherit'],
    // Excludes variables that name another server.
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
  });
  update.on('error', (error) => process.stderr.write(`The retention was not set: ${error.message}\n`));
}

if (import.meta.main) await run();
