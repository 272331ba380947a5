import type { EntityManager } from '@mikro-orm/postgresql';
import { must } from '../../shared/assert.ts';
import { sha256 } from '../../shared/digest.ts';
import { textArray } from '../../shared/postgres.ts';
import { type Cell, rowText, type SealedJournal } from './seal.ts';

/**
 * SQL that converts a column to text that depends only on its value, and not on the connection's time zone or date
 * style, or a numeric's trailing zeros.
 */
const canonical = {
  text: (column: string) => column,
  id: (column: string) => `${column}::text`,
  number: (column: string) => `trim_scale(${column})::text`,
  // JSON formats instants as ISO 8601 regardless of the date style.
  instant: (column: string) => `to_json(${column} at time zone 'UTC') #>> '{}' || 'Z'`,
} as const;

type Kind = keyof typeof canonical;

interface SealedTable {
  /** The column with the journal's id. */
  journal: string;
  /** In the order of serialization. */
  columns: Readonly<Record<string, Kind>>;
}

/** The sealed part of the ledger, in this order: every column of the three tables. */
export const sealedTables = {
  journals: {
    journal: 'id',
    columns: { id: 'id', business_key: 'text', kind: 'text', created_at: 'instant' },
  },
  postings: {
    journal: 'journal_id',
    columns: { id: 'id', journal_id: 'id', account_id: 'id', amount: 'number', created_at: 'instant' },
  },
  transactions: {
    journal: 'batch_id',
    columns: {
      id: 'id',
      user_id: 'id',
      organization_id: 'id',
      amount: 'number',
      status: 'text',
      date: 'instant',
      source_account_id: 'id',
      destination_account_id: 'id',
      type: 'text',
      reference_type: 'text',
      reference_id: 'id',
      batch_id: 'id',
      purpose: 'text',
      payment_order_id: 'id',
      created_by: 'id',
      updated_by: 'id',
      deleted_by: 'id',
      created_at: 'instant',
      updated_at: 'instant',
    },
  },
} as const satisfies Record<string, SealedTable>;

/**
 * Queries that force one index lookup per journal; with stale statistics, a query for all rows in order might read the
 * whole table.
 */
const statements = Object.entries<SealedTable>(sealedTables).map(([table, { journal, columns }]) => ({
  table,
  sql: `select wanted.journal::text as journal, found.cells
    from unnest(?::uuid[]) wanted (journal)
    cross join lateral (select id, array[${Object.entries(columns)
      .map(([column, kind]) => canonical[kind](column))
      .join(', ')}] as cells from ${table} where ${journal} = wanted.journal offset 0) found
    order by wanted.journal, found.id`,
}));

/** Journals read per query. */
const perRead = 500;

/**
 * Returns the canonical text of each journal: one line for its row and each of its postings and transactions. Missing
 * rows have no lines.
 */
export async function describeJournals(tx: EntityManager, ids: readonly string[]): Promise<Map<string, string>> {
  const texts = new Map(ids.map((id) => [id, '']));
  for (const { table, sql } of statements) {
    const rows = await tx.execute<{ journal: string; cells: Cell[] }[]>(sql, [textArray(ids)]);
    for (const { journal, cells } of rows) texts.set(journal, texts.get(journal) + rowText(table, cells));
  }
  return texts;
}

/** Yields the journals with the hashes of their texts, in id order, in the transaction's snapshot. */
export async function* hashJournals(tx: EntityManager, ids: readonly string[]): AsyncGenerator<SealedJournal> {
  const sorted = ids.toSorted();
  for (let start = 0; start < sorted.length; start += perRead) {
    const part = sorted.slice(start, start + perRead);
    const texts = await describeJournals(tx, part);
    for (const id of part) yield { id, hash: sha256(must(texts.get(id), 'every journal has a text')) };
  }
}
