import type { EntityManager } from '@mikro-orm/postgresql';
import { firstDayOf, partitionOf } from './archived-month.ts';

/** The location of a month's rows. */
export interface MonthPlace {
  table: string;
  /** `YYYY-MM`. */
  month: string;
  /** The partition's name, whether it exists or not. */
  partition: string;
  /** Whether its rows are in the database, attached to the table. */
  attached: boolean;
  /** The manifest of an archived month; otherwise null. */
  archived: { key: string; sha256: string; rows: number } | null;
}

/** Finds the tables partitioned by month. */
export async function findDividedTables(em: EntityManager): Promise<string[]> {
  const rows = await em.execute<{ name: string }[]>(
    "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'p' order by 1",
  );
  return rows.map(({ name }) => name);
}

/** Finds a month of a table. */
export async function findMonth(em: EntityManager, table: string, month: string): Promise<MonthPlace> {
  const partition = partitionOf(table, month);
  const [found] = await em.execute<
    [{ attached: boolean; key: string | null; sha256: string | null; rows: string | null }]
  >(
    `select exists (select from pg_inherits i join pg_class c on c.oid = i.inhrelid
         where i.inhparent = ?::regclass and c.relname = ?) as attached,
       a.manifest_key as key, a.manifest_sha256 as sha256, a.rows
     from (select 1) one left join archived_months a on a.table_name = ? and a.month = ?::date`,
    [`public.${table}`, partition, table, firstDayOf(month)],
  );
  const { attached, key, sha256, rows } = found;
  const archived = key === null || sha256 === null ? null : { key, sha256, rows: Number(rows) };
  return { table, month, partition, attached, archived };
}
