import { gauge, type Metrics } from './metrics.ts';

/** Tells 1 while this worker polls for work and 0 otherwise; it asks nobody, so that it is told while the database is away. */
export function measureWorker(metrics: Metrics, polls: () => boolean): void {
  const polling = gauge(metrics, 'amanah_worker_polls', 'Whether this worker polls for work.', []);
  Object.assign(polling, { collect: () => polling.set(polls() ? 1 : 0) });
}
