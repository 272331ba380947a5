import type { MikroORM } from '@mikro-orm/postgresql';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { budgets } from '../../shared/budgets.ts';
import { errorCodeOf } from '../../shared/errors.ts';
import { withPatience } from '../../shared/patience.ts';

/** All metrics, in one registry per process; modules add their own to `registry`. */
export interface Metrics {
  registry: Registry;
  httpRequestSeconds: Histogram<'method' | 'route' | 'status'>;
}

export function createMetrics(options: { defaults?: boolean } = {}): Metrics {
  const registry = new Registry();
  if (options.defaults ?? true) collectDefaultMetrics({ register: registry });
  const httpRequestSeconds = new Histogram({
    name: 'amanah_http_request_seconds',
    help: 'Duration of HTTP requests by route and status.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
    registers: [registry],
  });
  return { registry, httpRequestSeconds };
}

/** Returns the registry's counter of this name, created on first use. */
export function counter<L extends string>(metrics: Metrics, name: string, help: string, labelNames: L[]): Counter<L> {
  const known = metrics.registry.getSingleMetric(name);
  return known instanceof Counter ? known : new Counter({ name, help, labelNames, registers: [metrics.registry] });
}

/** Returns the registry's gauge of this name, created on first use. */
export function gauge<L extends string>(metrics: Metrics, name: string, help: string, labelNames: L[]): Gauge<L> {
  const known = metrics.registry.getSingleMetric(name);
  return known instanceof Gauge ? known : new Gauge({ name, help, labelNames, registers: [metrics.registry] });
}

/**
 * Calls `refresh` once per scrape, to set all the gauges with one query. `refresh` first clears them, so that a scrape
 * omits them while the query hangs: a scrape that times out would hide every metric of the process.
 */
export function collectTogether(gauges: readonly Gauge[], refresh: () => Promise<void>): void {
  let asking: Promise<void> | null = null;
  const collect = async () => {
    asking ??= refresh().finally(() => {
      asking = null;
    });
    const asked = asking;
    await withPatience(budgets.reach.scrape, () => asked).catch((error) => {
      if (errorCodeOf(error) !== 'ETIMEDOUT') throw error;
    });
  };
  for (const one of gauges) Object.assign(one, { collect });
}

/**
 * Sets each gauge, when scraped, to the column with its name in the query's single row. Without a value, a row or a
 * database the gauge has no value, rather than a stale one.
 */
export function collectRow<Name extends string>(gauges: Record<Name, Gauge>, orm: MikroORM, query: string): void {
  const named = Object.entries<Gauge>(gauges);
  collectTogether(Object.values<Gauge>(gauges), async () => {
    for (const [, one] of named) one.remove();
    const [row] = await orm.em
      .fork()
      .execute<Record<string, number | null>[]>(query)
      .catch(() => []);
    for (const [name, one] of named) {
      const value = row?.[name];
      if (value !== undefined && value !== null) one.set(value);
    }
  });
}
