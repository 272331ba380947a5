import type { MikroORM } from '@mikro-orm/postgresql';
import { collectRow, gauge, type Metrics } from '../../platform/metrics/metrics.ts';

/**
 * Creates the gauges of the seals, read at each scrape: the time up to which all journals are sealed, and the time of
 * the last seal.
 */
export function measureSeals(metrics: Metrics, orm: MikroORM): void {
  const until = gauge(
    metrics,
    'amanah_sealed_until_timestamp_seconds',
    'Every journal committed before this time is sealed.',
    [],
  );
  const last = gauge(metrics, 'amanah_last_seal_timestamp_seconds', 'When the last seal was made.', []);
  collectRow(
    { until, last },
    orm,
    // Before the first seal, journals count as sealed until the first event.
    `select extract(epoch from coalesce(
       (select covers_until from seals where covers_until is not null order by number desc limit 1),
       (select created_at from events order by id limit 1), now()))::float8 as until,
     (select extract(epoch from sealed_at)::float8 from seals order by number desc limit 1) as last`,
  );
}
