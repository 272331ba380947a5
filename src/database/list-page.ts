import type { EntityManager } from '@mikro-orm/postgresql';
import type { ListWindow } from './find-page.ts';

export interface PageSource {
  /** SQL after `select`. */
  columns: string;
  /** The paged table with its alias `row`, e.g. `users row`. */
  table: string;
  /** SQL between the table and `where`, e.g. joins. */
  joins?: string;
  /** The time by which it is ordered; `created_at` by default. */
  instant?: 'created_at' | 'received_at';
  /** Conditions, joined by `and`; each with its parameters in order. */
  where?: readonly { sql: string; params?: readonly unknown[] }[];
}

/**
 * One page of rows ordered by `instant`, and the number of all matches. The table has `id` and that column. With
 * `after` the page starts after that row (keyset); an unknown row gives an empty page.
 */
export async function listPage<Row extends object>(
  em: EntityManager,
  { columns, table, joins = '', instant = 'created_at', where = [] }: PageSource,
  { page, limit, order = 'desc', after }: ListWindow,
): Promise<{ rows: Row[]; total: number }> {
  const params = where.flatMap((condition) => condition.params ?? []);
  const conditions = where.map(({ sql }) => `(${sql})`);
  const filter = conditions.length > 0 ? `where ${conditions.join(' and ')}` : '';
  const name = table.split(' ')[0];
  const seek =
    after === undefined
      ? ''
      : `${filter === '' ? 'where' : 'and'} (row.${instant}, row.id) ${order === 'desc' ? '<' : '>'}
         (select ${instant}, id from ${name} where id = ?)`;
  const offset = after === undefined ? (BigInt(page) - 1n) * BigInt(limit) : 0n;
  const rows = await em.execute<Row[]>(
    `select ${columns} from ${table} ${joins} ${filter} ${seek}
     order by row.${instant} ${order}, row.id ${order} limit ${limit} offset ${offset}`,
    [...params, ...(after === undefined ? [] : [after])],
  );
  const [count] = await em.execute<[{ total: string }]>(`select count(*) as total from ${table} ${joins} ${filter}`, [
    ...params,
  ]);
  return { rows, total: Number(count.total) };
}
