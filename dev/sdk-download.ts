import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { userCacheDirectory } from './user-cache.ts';

export type SdkServer = 'dev-server' | 'time-skipping';

/** A download that has not started after this time is aborted: behind some firewalls it hangs forever. */
const beginWithinMs = 15_000;
/** A download without progress for this long is aborted too. */
const stallMs = 60_000;
const pollMs = 250;

const directoryOf = (server: SdkServer) => join(userCacheDirectory(), `sdk-${server}`);

/** The server that the Temporal SDK downloaded earlier, or null. */
export function findDownloaded(server: SdkServer): string | null {
  const directory = directoryOf(server);
  const names = listDirectory(directory).filter(
    (name) => name.startsWith('temporal') && !name.endsWith('.downloading'),
  );
  const executable = names.map((name) => join(directory, name)).find((path) => (statSync(path).mode & 0o100) !== 0);
  return executable ?? null;
}

/**
 * Has the Temporal SDK download its server; returns the server's path, or null if the download does not start, fails or
 * is aborted.
 */
export async function downloadBySdk(server: SdkServer, signal?: AbortSignal): Promise<string | null> {
  const directory = directoryOf(server);
  mkdirSync(directory, { recursive: true });
  const child = spawn(process.execPath, [import.meta.filename, server, directory], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    env: process.env,
  });
  const ended = new Promise<boolean>((resolve) => {
    child.once('exit', (code) => resolve(code === 0));
    child.once('error', () => resolve(false));
  });
  let lastSize = 0;
  let deadline = Date.now() + beginWithinMs;
  const watch = setInterval(() => {
    const size = sizeOf(directory);
    if (size > lastSize) deadline = Date.now() + stallMs;
    lastSize = size;
    if (Date.now() > deadline) child.kill('SIGKILL');
  }, pollMs);
  const giveUp = () => child.kill('SIGKILL');
  signal?.addEventListener('abort', giveUp);
  if (signal?.aborted) giveUp();
  const done = await ended;
  signal?.removeEventListener('abort', giveUp);
  clearInterval(watch);
  return done ? findDownloaded(server) : null;
}

function listDirectory(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function sizeOf(directory: string): number {
  return listDirectory(directory).reduce(
    (sum, name) => sum + (statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

/** Runs in its own process: the download cannot be cancelled, so the process is killed. */
async function run(server: SdkServer, downloadDir: string): Promise<void> {
  process.on('disconnect', () => process.exit(1));
  const { TestWorkflowEnvironment } = await import('@temporalio/testing');
  const executable = { type: 'cached-download' as const, downloadDir };
  const environment =
    server === 'dev-server'
      ? await TestWorkflowEnvironment.createLocal({ server: { executable } })
      : await TestWorkflowEnvironment.createTimeSkipping({ server: { executable } });
  await environment.teardown();
  process.exit(0);
}

if (import.meta.main) {
  const [, , server, directory = ''] = process.argv;
  await run(server === 'time-skipping' ? 'time-skipping' : 'dev-server', directory);
}
