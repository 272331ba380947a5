import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A stack that test files can share. */
export interface Shareable {
  databaseUrls: { owner: string };
  /** Undoes a file's changes before the next file uses the stack. */
  calm(): Promise<void>;
  stop(): Promise<void>;
}

interface Entry {
  stack: Shareable;
  isInUse: boolean;
}

const list = 'shared-databases';

/** The stacks of this jest worker by their settings: those in use, and the last one used. */
const stacks = new Map<string, Entry>();
let stopping = Promise.resolve();

/**
 * Returns this jest worker's stack with these settings, started if there is none, and a function to return it; null if
 * the stack is in use by the same file.
 */
export async function borrowStack<S extends Shareable>(
  settings: string,
  start: () => Promise<S>,
  runDirectory: string,
): Promise<{ stack: S; giveBack(): Promise<void> } | null> {
  const known = stacks.get(settings);
  if (known?.isInUse) return null;
  const entry = known ?? { stack: await start(), isInUse: true };
  if (known === undefined) appendFileSync(join(runDirectory, list), `${entry.stack.databaseUrls.owner}\n`);
  entry.isInUse = true;
  stacks.set(settings, entry);
  // Only the next stack waits for this one to stop, so that at most one is left running.
  await stopping;
  stopping = stopIdle();
  stopping.catch(() => undefined);
  return {
    stack: entry.stack as S,
    async giveBack() {
      await entry.stack.calm();
      entry.isInUse = false;
    },
  };
}

async function stopIdle(): Promise<void> {
  for (const [settings, { stack, isInUse }] of [...stacks]) {
    if (isInUse) continue;
    stacks.delete(settings);
    await stack.stop();
  }
}

/** Stops all stacks of this process, in use or not. */
export async function stopSharedStacks(): Promise<void> {
  await stopping;
  for (const [, { stack }] of stacks) await stack.stop();
  stacks.clear();
}

/** The owners' URLs of the databases of all shared stacks of a run, which stay until the run ends. */
export function sharedDatabases(runDirectory: string): string[] {
  const file = join(runDirectory, list);
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

/** The settings that distinguish stacks: all variables except the log level. */
export const settingsOf = ({ LOG_LEVEL: _, ...env }: Record<string, string>): string =>
  JSON.stringify(Object.entries(env).sort());

/** Makes a function run only once, however often it is called. */
export const once = (stop: () => Promise<void>): (() => Promise<void>) => {
  let stopped: Promise<void> | undefined;
  return () => (stopped ??= stop());
};
