import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A shared stack, its database's owner, and how to reset it between two files. */
export interface Shareable {
  databaseUrls: { owner: string };
  /** Resets what a file configured in the sandbox. */
  calm(): Promise<void>;
  stop(): Promise<void>;
}

interface Entry {
  stack: Shareable;
  isInUse: boolean;
}

const list = 'shared-databases';

/** The stacks of this jest worker by their settings: those in use, and the last one used, as each polls and sweeps. */
const stacks = new Map<string, Entry>();
let stopping = Promise.resolve();

/**
 * The running stack of this jest worker with these settings, started if there is none, and a function to return it. A
 * second one within a file, while the first is in use, gets null and uses its own database.
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

/** Stops all of this process, in use or not. */
export async function stopSharedStacks(): Promise<void> {
  await stopping;
  for (const [, { stack }] of stacks) await stack.stop();
  stacks.clear();
}

/** The databases of all shared stacks of a run, as their owner; they stay until the run ends. */
export function sharedDatabases(runDirectory: string): string[] {
  const file = join(runDirectory, list);
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

/** Logs differ from file to file, and concern only their own file. */
export const settingsOf = ({ LOG_LEVEL: _, ...env }: Record<string, string>): string =>
  JSON.stringify(Object.entries(env).sort());

/** Returns it or stops it, once, however often it is called. */
export const once = (stop: () => Promise<void>): (() => Promise<void>) => {
  let stopped: Promise<void> | undefined;
  return () => (stopped ??= stop());
};
