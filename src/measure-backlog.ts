import type { MikroORM } from '@mikro-orm/postgresql';
import { gauge, type Metrics } from './http/metrics.ts';

/** Several scrapers, or one that is too eager, make no more queries than this. */
const keptForMs = 10_000;

/** What waits longer than it should, each over a partial index that is empty when all is well. */
const waiting = `
select 'unknown_payouts' as what, count(*)::int as rows, min(unknown_since) as oldest
  from payouts where unknown_since is not null
union all select 'contradicted_payouts', count(*)::int, min(contradicted_at)
  from payouts where contradicted_at is not null
union all select 'suspended_receipts', count(*)::int, min(received_at) from receipts where state = 'suspended'
union all select 'undelivered_callbacks', count(*)::int, min(received_at)
  from gateway_callbacks where delivered_at is null and unread is null
union all select 'overdue_webhooks', count(*)::int, min(next_attempt_at)
  from webhook_deliveries where status = 'pending' and next_attempt_at < now()
union all select 'overdue_payment_orders', count(*)::int, min(expires_at)
  from payment_orders where status in ('PENDING', 'WAITING_PAYMENT') and expires_at < now()
union all select 'open_reconciliations', count(*)::int, min(created_at) from reconciliations where state = 'open'
union all select 'unread_callbacks', count(*)::int, min(received_at) from gateway_callbacks
  where unread is not null and received_at > now() - interval '1 day'`;

interface WaitingRow {
  what: string;
  rows: number;
  oldest: Date | string | null;
}

/** What waits for a person or for another try, by kind: how many, and for how long the oldest. Read when asked for. */
export function measureBacklog(metrics: Metrics, orm: MikroORM): void {
  const rows = gauge(metrics, 'amanah_waiting', 'What waits for an operator or another try, by kind; 0 is healthy.', [
    'what',
  ]);
  const age = gauge(metrics, 'amanah_waiting_oldest_seconds', 'For how long the oldest of its kind has waited.', [
    'what',
  ]);
  let read = Number.NEGATIVE_INFINITY;
  const refresh = async () => {
    if (performance.now() - read < keptForMs) return;
    read = performance.now();
    rows.reset();
    age.reset();
    // With the database away these have no value; its own alarms tell why.
    const found = await orm.em
      .fork()
      .execute<WaitingRow[]>(waiting)
      .catch(() => []);
    for (const { what, rows: count, oldest } of found) {
      rows.set({ what }, count);
      age.set({ what }, oldest === null ? 0 : Math.max(0, (Date.now() - new Date(oldest).getTime()) / 1000));
    }
  };
  // Prometheus collects both in one go; one question serves them.
  let asking: Promise<void> | null = null;
  const collect = () => {
    asking ??= refresh().finally(() => {
      asking = null;
    });
    return asking;
  };
  Object.assign(rows, { collect });
  Object.assign(age, { collect });
}
