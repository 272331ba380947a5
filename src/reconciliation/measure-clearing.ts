import type { MikroORM } from '@mikro-orm/postgresql';
import { collectTogether, gauge, type Metrics } from '../http/metrics.ts';

/** The last comparison of gateway clearing with the provider's balance, read when asked for; none before the first. */
export function measureClearingDifference(metrics: Metrics, orm: MikroORM): void {
  const difference = gauge(
    metrics,
    'amanah_clearing_difference',
    "What nothing explains between the provider's balance and gateway clearing, IDR; 0 is healthy.",
    [],
  );
  const at = gauge(metrics, 'amanah_clearing_compared_timestamp_seconds', 'When they were last compared.', []);
  const refresh = async () => {
    // With the database away these have no value; its own alarms tell why.
    const [row] = await orm.em
      .fork()
      .execute<{ difference: number; at: number }[]>(
        `select difference::float8 as difference, extract(epoch from measured_at)::float8 as at
         from clearing_comparisons order by day desc limit 1`,
      )
      .catch(() => []);
    difference.remove();
    at.remove();
    if (row === undefined) return;
    difference.set(row.difference);
    at.set(row.at);
  };
  collectTogether([difference, at], refresh);
}
