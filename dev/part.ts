import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StackError } from './stack-error.ts';

/** A part's message to its parent over IPC, if it names the foreign process that it holds; otherwise just `'ready'`. */
export interface ReadyMessage {
  ready: true;
  inner?: number;
  details?: unknown;
}

/** The options that a part's starter chooses; the part defines the rest itself. */
export type PartPlace = Pick<PartOptions, 'logFile' | 'onProcess' | 'onGone' | 'signal'>;

export interface PartOptions {
  name: string;
  /** The file that Node runs. */
  script: string;
  /** Node's own options, before the script, e.g. `--max-semi-space-size=16`. */
  nodeOptions?: readonly string[];
  env: NodeJS.ProcessEnv;
  /** Passed to the script as JSON, where `readPartOptions` reads it. */
  options?: unknown;
  /** The destination of the part's output; `ignore` drops it. */
  logFile: string | 'ignore';
  readyWithinMs: number;
  /** Called as soon as a process exists, and again for the foreign process inside it. */
  onProcess?: (pid: number) => void;
  onGone?: (pid: number) => void;
  /** Aborts a start in progress. */
  signal?: AbortSignal;
  /** Receives every other IPC message from the part. */
  onMessage?: (message: unknown) => void;
}

export interface PartExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A part of the stack: a Node process with an IPC channel to us, which exits when the channel closes. */
export interface Part {
  readonly name: string;
  readonly pid: number;
  /** The pid of the foreign process that the part holds (PostgreSQL, Temporal), if any. */
  readonly inner: number | undefined;
  readonly details: unknown;
  readonly exited: Promise<PartExit>;
  isRunning(): boolean;
  send(message: object): void;
  kill(signal: NodeJS.Signals): void;
  /** Asks the part to stop, and kills it if it has not stopped within the grace period. */
  stop(graceMs?: number): Promise<void>;
}

const optionsVariable = 'PART_OPTIONS';
/** Caches shared between starts. */
export const cacheDirectory = join(import.meta.dirname, '..', 'node_modules', '.cache', 'amanah');
/** Node's compile cache, which saves a second of CPU per start. */
const compiled = join(cacheDirectory, 'compiled');
const defaultGraceMs = 15_000;
const shownLogLines = 12;

/** The options that the parent passed to this process. */
export function readPartOptions(): unknown {
  return JSON.parse(process.env[optionsVariable] ?? '{}');
}

/** Starts a part in its own process group (Ctrl-C reaches only us) and waits until it reports that it is ready. */
export async function startPart(options: PartOptions): Promise<Part> {
  const log = openLog(options.logFile);
  const child = spawn(process.execPath, [...(options.nodeOptions ?? []), options.script], {
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
    env: { NODE_COMPILE_CACHE: compiled, ...options.env, [optionsVariable]: JSON.stringify(options.options ?? {}) },
  });
  if (typeof log === 'number') closeSync(log);
  child.on('error', () => undefined);
  const exited = new Promise<PartExit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  if (child.pid === undefined) throw new StackError(`${options.name} could not be started.`);
  const pid = child.pid;
  const giveUp = () => void child.kill('SIGTERM');
  options.signal?.addEventListener('abort', giveUp);
  if (options.signal?.aborted) giveUp();
  options.onProcess?.(pid);
  void exited.then(() => options.onGone?.(pid));

  const message = await waitUntilReady(child, exited, options);
  options.signal?.removeEventListener('abort', giveUp);
  if (message.inner !== undefined) {
    const { inner } = message;
    options.onProcess?.(inner);
    void exited.then(() => options.onGone?.(inner));
  }
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  return {
    name: options.name,
    pid,
    inner: message.inner,
    details: message.details,
    exited,
    isRunning,
    send: (content) => child.send(content),
    kill: (signal) => void child.kill(signal),
    stop: async (graceMs = defaultGraceMs) => {
      if (isRunning()) child.kill('SIGTERM');
      const abort = new AbortController();
      const late = sleep(graceMs, 'late' as const, { signal: abort.signal, ref: false }).catch(() => 'gone' as const);
      if ((await Promise.race([exited, late])) === 'late') child.kill('SIGKILL');
      await exited;
      abort.abort();
    },
  };
}

function openLog(file: string): number | 'ignore' {
  if (file === 'ignore') return 'ignore';
  mkdirSync(dirname(file), { recursive: true });
  return openSync(file, 'a', 0o600);
}

async function waitUntilReady(
  child: ChildProcess,
  exited: Promise<PartExit>,
  options: PartOptions,
): Promise<ReadyMessage> {
  const { name, readyWithinMs, logFile } = options;
  const ready = Promise.withResolvers<ReadyMessage>();
  const failed: string[] = [];
  const timer = setTimeout(() => {
    child.kill('SIGKILL');
    ready.reject(new StackError(describeFailure(name, `was not ready within ${readyWithinMs / 1000} s`, logFile)));
  }, readyWithinMs);
  child.on('message', (message: unknown) => {
    if (message === 'ready') ready.resolve({ ready: true });
    else if (isReady(message)) ready.resolve(message);
    else if (isFailure(message)) failed.push(message.failed);
    else options.onMessage?.(message);
  });
  void exited.then(({ code, signal }) => {
    const end = signal ? `was killed by ${signal}` : `exited with code ${code}`;
    ready.reject(new StackError(failed[0] ?? describeFailure(name, `${end} before it was ready`, logFile)));
  });
  return ready.promise.finally(() => clearTimeout(timer));
}

const isReady = (message: unknown): message is ReadyMessage =>
  typeof message === 'object' && message !== null && 'ready' in message && message.ready === true;

const isFailure = (message: unknown): message is { failed: string } =>
  typeof message === 'object' && message !== null && 'failed' in message && typeof message.failed === 'string';

function describeFailure(name: string, what: string, logFile: string): string {
  const lines = logFile === 'ignore' ? [] : readLastLines(logFile);
  const last = lines.length === 0 ? '' : `\nThe last lines of ${logFile}:\n${lines.join('\n')}`;
  return `${name} ${what}.${last}`;
}

function readLastLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-shownLogLines);
  } catch {
    return [];
  }
}
