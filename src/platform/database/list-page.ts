import type { EntityManager } from '@mikro-orm/postgresql';
import type { ListWindow } from './find-page.ts';
import {
  comesAfter,
  countOnce,
  cutPage,
  type Listed,
  type Placed,
  paramsOf,
  positionOf,
  startOfPage,
} from './position.ts';
import { readFresh } from './replica.ts';

/** A condition in SQL, with its parameters in order. */
interface Condition {
  sql: string;
  params?: readonly unknown[];
}

export interface PageSource {
  /** SQL after `select`. */
  columns: string;
  /** The paged table with its alias `row`, e.g. `users row`. */
  table: string;
  /** The time column that orders it; `created_at` by default. */
  instant?: 'created_at' | 'received_at';
  /** Conditions for the rows that the caller may list, joined by `and`. */
  within?: readonly Condition[];
  /** The request's filters, joined by `and`. */
  where?: readonly Condition[];
}

const filterOf = (conditions: readonly Condition[]): string =>
  conditions.length > 0 ? `where ${conditions.map(({ sql }) => `(${sql})`).join(' and ')}` : '';
const valuesOf = (conditions: readonly Condition[]): unknown[] => conditions.flatMap(({ params }) => params ?? []);

/**
 * Reads a page of rows (`readFresh`) ordered by `instant`, the total number of matches, and `next` when more rows
 * follow. The table has `id` and that column. If `after` is an id, it must belong to a row `within` the list; otherwise
 * throws REQUEST_INVALID.
 */
export const listPage = <Row extends object>(
  em: EntityManager,
  source: PageSource,
  window: ListWindow,
): Promise<Listed & { rows: Row[] }> => readFresh(em, (reader) => readPage(reader, source, window));

async function readPage<Row extends object>(
  em: EntityManager,
  { columns, table, instant = 'created_at', within = [], where = [] }: PageSource,
  { page, limit, order = 'desc', after }: ListWindow,
): Promise<Listed & { rows: Row[] }> {
  const place = [`row.${instant}`, 'row.id'] as const;
  const position = `${positionOf(...place)} as position`;
  const start = await startOfPage(after, (id) => {
    const named = [{ sql: 'row.id = ?', params: [id] }, ...within];
    return em.execute<Placed[]>(`select ${position} from ${table} ${filterOf(named)}`, valuesOf(named));
  });
  const asked = [...within, ...where];
  const further = start && { sql: comesAfter(...place, order), params: paramsOf(start) };
  const listed = further === undefined ? asked : [...asked, further];
  const offset = further === undefined ? (BigInt(page) - 1n) * BigInt(limit) : 0n;
  const ordered = `order by row.${instant} ${order}, row.id ${order}`;
  const cut = `${filterOf(listed)} ${ordered} limit ${limit + 1} offset ${offset}`;
  // For a page by number, an index with the filtered columns lets the preceding rows be skipped by an index-only scan.
  const read = await em.execute<(Row & Placed)[]>(
    offset === 0n
      ? `select ${columns}, ${position} from ${table} ${cut}`
      : `with page as materialized (select row.id from ${table} ${cut})
         select ${columns}, ${position} from ${table} where row.id in (select id from page) ${ordered}`,
    valuesOf(listed),
  );
  const counted = await countOnce(start, [table, asked], async () => {
    const [count] = await em.execute<[{ total: string }]>(
      `select count(*) as total from ${table} ${filterOf(asked)}`,
      valuesOf(asked),
    );
    return Number(count.total);
  });
  const { rows, next } = cutPage(read, limit, counted);
  return { rows: rows as unknown as Row[], total: counted.total, next };
}
