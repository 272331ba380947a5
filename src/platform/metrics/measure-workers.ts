import { gauge, type Metrics } from './metrics.ts';

/** A poller of one task queue in this process. */
export interface PollingWorker {
  queue: string;
  polls(): boolean;
}

/**
 * Registers a gauge per worker of this process: 1 while it polls its task queue, otherwise 0. It works without the
 * database.
 */
export function measureWorkers(metrics: Metrics, workers: readonly PollingWorker[]): void {
  const polling = gauge(metrics, 'amanah_worker_polls', 'Whether this process polls a task queue, by its kind.', [
    'queue',
  ]);
  const collect = () => {
    for (const { queue, polls } of workers) polling.set({ queue }, polls() ? 1 : 0);
  };
  Object.assign(polling, { collect });
}
