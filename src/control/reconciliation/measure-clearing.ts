import type { MikroORM } from '@mikro-orm/postgresql';
import { collectRow, gauge, type Metrics } from '../../platform/metrics/metrics.ts';

/** Registers gauges of the last comparison of gateway clearing with the provider's balance, read at each scrape. */
export function measureClearingDifference(metrics: Metrics, orm: MikroORM): void {
  const difference = gauge(
    metrics,
    'amanah_clearing_difference',
    "Unexplained difference between the provider's balance and gateway clearing, IDR; 0 is healthy.",
    [],
  );
  const at = gauge(metrics, 'amanah_clearing_compared_timestamp_seconds', 'When they were last compared.', []);
  collectRow(
    { difference, at },
    orm,
    `select difference::float8 as difference, extract(epoch from measured_at)::float8 as at
     from clearing_comparisons order by day desc limit 1`,
  );
}
