import type { EntityManager } from '@mikro-orm/postgresql';

/** The instants in one column of one table. */
export interface InstantSpan {
  /** Table and column. */
  place: string;
  /** In epoch milliseconds, like `latest`. */
  earliest: number;
  latest: number;
}

/** Columns that hold future instants rather than past ones. */
const plans = new Set([
  'available_at',
  'due_at',
  'expires_at',
  'lapses_at',
  'look_again_at',
  'look_at',
  'next_attempt_at',
  'next_opens_at',
  'paused_until',
  'published_until',
  'schedule_anchor',
  'starts_at',
  'token_expires_at',
  'valid_until',
]);

/** Tables filled by migrations, with instants of their own. */
const seeded = new Set(['organization_industries', 'organization_sizes']);

/** Columns that tests backdate: operators were admitted some days ago. */
const datedBack = new Set(['users.approver_since']);

/** The earliest and latest instant of every column that records when something happened. */
export async function readInstants(em: EntityManager): Promise<InstantSpan[]> {
  const columns = await em.execute<{ table: string; column: string }[]>(
    `select c.table_name as "table", c.column_name as "column"
     from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
     where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.data_type = 'timestamp with time zone'
     order by 1, 2`,
  );
  const ms = (edge: string, column: string) => `extract(epoch from ${edge}("${column}")) * 1000`;
  const spans = columns
    .filter(({ table, column }) => !plans.has(column) && !seeded.has(table) && !datedBack.has(`${table}.${column}`))
    .map(
      ({ table, column }) =>
        `select '${table}.${column}' as place, ${ms('min', column)} as earliest, ${ms('max', column)} as latest
         from "${table}" having count("${column}") > 0`,
    );
  // When a partner's money became pending is derived from when it becomes available.
  const since = 'available_at - make_interval(hours => settlement_delay_hours)';
  spans.push(
    `select 'partner_payments.available_at', extract(epoch from min(${since})) * 1000, extract(epoch from max(${since})) * 1000
     from partner_payments p join partners on partners.id = partner_id having count(available_at) > 0`,
  );
  const found = await em.execute<{ place: string; earliest: string; latest: string }[]>(spans.join(' union all '));
  return found.map(({ place, earliest, latest }) => ({
    place,
    earliest: Number(earliest),
    latest: Number(latest),
  }));
}

/** The spans that begin before `from` or end after `to` (epoch milliseconds). */
export const outside = (spans: readonly InstantSpan[], { from, to }: { from: number; to: number }): InstantSpan[] =>
  spans.filter(({ earliest, latest }) => earliest < from || latest > to);
