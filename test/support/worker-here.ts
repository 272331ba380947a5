import { IllegalStateError } from '@temporalio/common';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { createActivities } from '../../activities/index.ts';
import { readConfig } from '../../src/platform/config/config.ts';
import { runWorker } from '../../src/wiring/worker/run-worker.ts';

/** A worker that runs in this process. */
export interface WorkerHere {
  /** Stops it after its running steps. */
  stop(): Promise<void>;
}

/**
 * Lets Temporal's SDK log errors only. Its runtime ends with its last connection, so each start installs it, unless
 * there is one.
 */
export function installQuietRuntime(): void {
  try {
    Runtime.install({ logger: new DefaultLogger('ERROR') });
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
  }
}

/**
 * Starts a worker in this process, as src/worker.ts does in its own: a second of CPU time less, because the product's
 * modules are loaded and compiled already. Resolves when it polls.
 */
export async function startWorkerHere(env: Record<string, string>): Promise<WorkerHere> {
  installQuietRuntime();
  const polling = Promise.withResolvers<void>();
  const ending = Promise.withResolvers<string>();
  const ended = runWorker(readConfig(env, ['SEAL_SIGNING_KEY']), createActivities, () => {
    polling.resolve();
    return ending.promise;
  });
  await Promise.race([polling.promise, ended]);
  return {
    stop() {
      ending.resolve('the stack stops');
      return ended;
    },
  };
}
