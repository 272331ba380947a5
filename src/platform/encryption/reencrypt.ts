import type { EntityManager } from '@mikro-orm/postgresql';
import { must } from '../../shared/assert.ts';
import { budgets } from '../../shared/budgets.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { withTime } from '../database/database-time-outs.ts';
import { isUnderOwnKey, keyIdOf, type Sealer } from './sealer.ts';

/** Rows per batch. */
const batchRows = 500;

export interface SealedColumn {
  table: string;
  column: string;
}

export interface ReencryptProgress extends SealedColumn {
  /** Rows processed so far and in total, over all columns. */
  done: number;
  total: number;
}

export interface ReencryptResult extends SealedColumn {
  rows: number;
  moved: number;
  /** Ids of rows that no configured key opens; they are not changed. */
  unreadable: string[];
}

/** Finds every column with sealed values, by convention named `*_sealed`, in tables with an `id`. */
export async function findSealedColumns(em: EntityManager): Promise<SealedColumn[]> {
  return em.execute<SealedColumn[]>(
    `select c.table_name as "table", c.column_name as "column" from information_schema.columns c
     join information_schema.tables t using (table_schema, table_name)
     where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.column_name like '%\\_sealed'
     order by 1, 2`,
  );
}

/**
 * Re-encrypts every value under an older encryption key with the newest, `newestKeyId`, while the system keeps running.
 * Skips values under a person's or an order's own key, as that key itself is re-encrypted in the keys database, and
 * values that change during the run, which their writer seals with the newest key. Lists values that no key opens in
 * the result. Skips values already re-encrypted, so it can be stopped and rerun.
 */
export async function reencrypt(
  em: EntityManager,
  input: { sealer: Sealer; newestKeyId: string; onProgress?: (progress: ReencryptProgress) => void },
): Promise<ReencryptResult[]> {
  const { sealer, newestKeyId, onProgress } = input;
  const columns = await findSealedColumns(em);
  const counts = await Promise.all(columns.map((place) => countRows(em, place)));
  const total = counts.reduce((sum, count) => sum + count, 0);
  const results: ReencryptResult[] = [];
  let done = 0;
  for (const place of columns) {
    const result: ReencryptResult = { ...place, rows: 0, moved: 0, unreadable: [] };
    let after: string | null = null;
    for (;;) {
      const batch: { id: string; header: string }[] = await readBatch(em, place, after);
      for (const { id, header } of batch) {
        if (keyIdOf(header) === newestKeyId || isUnderItsOwn(header)) continue;
        const outcome = await moveValue(em, sealer, place, id);
        if (outcome === 'moved') result.moved += 1;
        if (outcome === 'unreadable') result.unreadable.push(id);
      }
      result.rows += batch.length;
      done += batch.length;
      onProgress?.({ ...place, done, total: Math.max(total, done) });
      await failpoint('reencrypt.after-batch');
      if (batch.length < batchRows) break;
      after = must(batch.at(-1), 'a full batch has a last row').id;
    }
    results.push(result);
  }
  return results;
}

/** Whether a sealed value, or its header, names a person's or an order's own key. */
const isUnderItsOwn = (sealed: string): boolean => isUnderOwnKey(keyIdOf(sealed) ?? '');

// Names come from the catalogue, never from a caller.
const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

async function countRows(em: EntityManager, { table, column }: SealedColumn): Promise<number> {
  const [row] = await withTime(em, budgets.database.command, (tx) =>
    tx.execute<[{ rows: string }]>(`select count(*) as rows from ${quote(table)} where ${quote(column)} is not null`),
  );
  return Number(row.rows);
}

function readBatch(
  em: EntityManager,
  { table, column }: SealedColumn,
  after: string | null,
): Promise<{ id: string; header: string }[]> {
  return withTime(em, budgets.database.command, (tx) =>
    tx.execute(
      `select id::text, split_part(${quote(column)}, '.', 1) as header from ${quote(table)}
     where ${quote(column)} is not null ${after === null ? '' : 'and id > ?'} order by ${quote(table)}.id limit ${batchRows}`,
      after === null ? [] : [after],
    ),
  );
}

async function moveValue(
  em: EntityManager,
  sealer: Sealer,
  place: SealedColumn,
  id: string,
): Promise<'moved' | 'left to its writer' | 'unreadable'> {
  const { table, column } = place;
  const [row] = await em.execute<{ sealed: string | null }[]>(
    `select ${quote(column)} as sealed from ${quote(table)} where id = ?`,
    [id],
  );
  // A writer may have sealed the value under a person's or an order's key since the header was read.
  if (!row?.sealed || isUnderItsOwn(row.sealed)) return 'left to its writer';
  const where = { table, column, row: id };
  const plain = await sealer.open(where, row.sealed).catch(() => null);
  if (plain === null) return 'unreadable';
  const moved = await sealer.seal(where, plain);
  const updated = await em.execute<unknown[]>(
    `update ${quote(table)} set ${quote(column)} = ? where id = ? and ${quote(column)} = ? returning 1`,
    [moved, id, row.sealed],
  );
  return updated.length > 0 ? 'moved' : 'left to its writer';
}
