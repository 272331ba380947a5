import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Credentials } from '../../dev/credentials.ts';
import { eventually } from './eventually.ts';

const script = join(import.meta.dirname, '../../dev/start.ts');
const isReady = 'Ctrl-C stops everything';
const readyWithinMs = 180_000;
/** Variables that replace or select parts of the stack, which are not inherited from the machine. */
const replacing = /^(DATABASE_|TEMPORAL_|S3_|XENDIT_|PUBLIC_URL$|DATA_|FAILPOINTS$|NODE_ENV$|AUTH_)/;

/** The product as `npm start` runs it, on a data directory. */
export interface Product {
  child: ChildProcess;
  /** The product's output so far. */
  output(): string;
  ended: Promise<number | null>;
  untilPrinted(text: string): Promise<void>;
  untilReady(): Promise<void>;
  /** The content of `credentials.json`. */
  credentials(): Credentials;
  /** Stops the product; returns its exit code. */
  stop(): Promise<number | null>;
}

/** Starts the product on free ports, which are stored in the data directory. */
export function startProduct(directory: string, env: Record<string, string> = {}, args: string[] = []): Product {
  const inherited = Object.entries(process.env).filter(([name]) => !replacing.test(name));
  const ports = { PORT: '0', TEMPORAL_UI_PORT: '0' };
  const child = spawn(process.execPath, [script, ...args], {
    env: { ...Object.fromEntries(inherited), DATA_DIR: directory, ...ports, LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk));
  let gone = false;
  const ended = once(child, 'exit').then(([code]) => {
    gone = true;
    return code as number | null;
  });
  const untilPrinted = async (text: string) => {
    await eventually(
      async () => output,
      (all) => all.includes(text) || gone,
      readyWithinMs,
    );
    if (!output.includes(text)) throw new Error(`npm start exited without "${text}":\n${output}`);
  };
  return {
    child,
    output: () => output,
    ended,
    untilPrinted,
    untilReady: () => untilPrinted(isReady),
    credentials: () => JSON.parse(readFileSync(join(directory, 'credentials.json'), 'utf8')),
    stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}
