import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readJson, writePrivateJson } from './private-file.ts';

/** A process that we started; the start mark distinguishes it from a later process with the same pid. */
export interface ProcessRecord {
  name: string;
  pid: number;
  startMark: string;
}

const pollMs = 50;
/** Children of a dead parent exit on their own; after this long they are stopped. */
const patienceMs = 2_000;
const graceMs = 4_000;

/** Distinguishes a process from a later one with the same pid; undefined when there is no such process. */
export function startMarkOf(pid: number): string | undefined {
  try {
    if (existsSync('/proc/self/stat')) {
      const afterName = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
      const [state, startTime] = [afterName[0], afterName[19]];
      return state === 'Z' || state === 'X' ? undefined : startTime;
    }
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Whether the recorded process, and not another one with its pid, still runs. */
export const isRunning = (record: ProcessRecord): boolean => startMarkOf(record.pid) === record.startMark;

/**
 * The processes of a data directory, recorded on disk, so that the next start can stop those that a killed stack left
 * running.
 */
export class ProcessRecords {
  readonly #file: string;
  #records: ProcessRecord[] = [];

  constructor(dataDirectory: string) {
    this.#file = join(dataDirectory, 'processes.json');
  }

  add(name: string, pid: number): void {
    const startMark = startMarkOf(pid);
    if (startMark === undefined) return;
    this.#records.push({ name, pid, startMark });
    this.#write();
  }

  /** Removes a process from the record if it has exited; one that outlived its keeper stays recorded. */
  remove(pid: number): void {
    this.#records = this.#records.filter((record) => record.pid !== pid || isRunning(record));
    this.#write();
  }

  /** Stops the processes that a killed stack left running; returns the names of the parts stopped. */
  async endLeftovers(): Promise<string[]> {
    const left = readRecords(this.#file).filter(isRunning);
    await waitUntilGone(left, patienceMs);
    const stubborn = left.filter(isRunning);
    await Promise.all(stubborn.map(endProcess));
    this.#write();
    return stubborn.map(({ name }) => name);
  }

  #write(): void {
    writePrivateJson(this.#file, this.#records);
  }
}

/** Stops a recorded process: first SIGINT (PostgreSQL's fast shutdown), then SIGKILL. */
export async function endProcess(record: ProcessRecord): Promise<void> {
  for (const signal of ['SIGINT', 'SIGKILL'] as const) {
    if (!isRunning(record)) return;
    try {
      process.kill(record.pid, signal);
    } catch {
      return;
    }
    await waitUntilGone([record], graceMs);
  }
}

async function waitUntilGone(records: ProcessRecord[], milliseconds: number): Promise<void> {
  const deadline = Date.now() + milliseconds;
  while (records.some(isRunning) && Date.now() < deadline) await sleep(pollMs);
}

function readRecords(file: string): ProcessRecord[] {
  const content = readJson(file);
  if (!Array.isArray(content)) return [];
  return content.filter(
    (entry): entry is ProcessRecord =>
      typeof entry === 'object' && entry !== null && Number.isInteger(entry.pid) && typeof entry.startMark === 'string',
  );
}
