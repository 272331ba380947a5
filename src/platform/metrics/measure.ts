import { type MikroORM, PostgreSqlConnection } from '@mikro-orm/postgresql';
import { Counter, Gauge, Histogram } from 'prom-client';
import type { ReadOutcome } from '../database/replica.ts';
import type { Logger } from '../process/log.ts';
import type { Metrics } from './metrics.ts';

const secondsBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Measures the database pool, read on scrape: waiting requests are the first sign that it is too small. */
export function measurePool({ registry }: Metrics, orm: MikroORM): void {
  new Gauge({
    name: 'amanah_database_pool_connections',
    help: 'Connections of the database pool by state; waiting counts requests waiting for one.',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      const connection = orm.em.getConnection();
      if (!(connection instanceof PostgreSqlConnection)) return;
      const pool = await connection.getNativeClient();
      this.set({ state: 'busy' }, pool.totalCount - pool.idleCount);
      this.set({ state: 'idle' }, pool.idleCount);
      this.set({ state: 'waiting' }, pool.waitingCount);
    },
  });
}

/** Counts replica-eligible reads by the server that answered, and logs why the replica did not. */
export function measureReplica({ registry }: Metrics, log: Logger): (outcome: ReadOutcome, error?: unknown) => void {
  const reads = new Counter({
    name: 'amanah_replica_reads_total',
    help:
      'Lists, documents and checks by the server that answered: the replica, or the primary because the replica ' +
      'was lagging (late), unreachable (away), failing (failed) or skipped after an error (resting).',
    labelNames: ['outcome'],
    registers: [registry],
  });
  return (outcome, error) => {
    reads.inc({ outcome });
    if (error !== undefined) log.warn({ err: error, outcome }, 'the primary answered instead of the replica');
  };
}

/**
 * Wraps the provider's `fetch` to measure duration by method, status (`none` if there was no response) and path, with
 * its ids replaced.
 */
export function measureProvider({ registry }: Metrics, call: typeof fetch): typeof fetch {
  const seconds = new Histogram({
    name: 'amanah_provider_request_seconds',
    help: 'Duration of calls to the payment provider; status none is an unknown outcome.',
    labelNames: ['method', 'path', 'status'],
    buckets: secondsBuckets,
    registers: [registry],
  });
  return async (input, init) => {
    const stop = seconds.startTimer();
    let status = 'none';
    try {
      const answer = await call(input, init);
      status = String(answer.status);
      return answer;
    } finally {
      const { pathname } = new URL(input instanceof Request ? input.url : input);
      stop({ method: init?.method ?? 'GET', path: pathname.replace(/\/[\w-]*\d[\w-]{7,}/g, '/:id'), status });
    }
  };
}

/** Measures how long each activity takes, and its outcome: done, refused (not retried) or failed (retried). */
export function measureSteps({ registry }: Metrics): Histogram<'activity' | 'outcome'> {
  const name = 'amanah_activity_seconds';
  const known = registry.getSingleMetric(name);
  if (known instanceof Histogram) return known;
  return new Histogram({
    name,
    help: 'Activity duration by outcome: done, refused (not retried), failed (retried).',
    labelNames: ['activity', 'outcome'],
    buckets: secondsBuckets,
    registers: [registry],
  });
}
