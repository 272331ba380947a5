import type { EntityManager } from '@mikro-orm/postgresql';
import { readInSnapshot } from '../../platform/database/read-in-snapshot.ts';
import type { Money } from '../../shared/money.ts';
import { type BookDay, isDaySealed } from '../seals/day-seal.ts';

/** A posting of a journal. */
export interface JournalLine {
  journal_id: string;
  kind: string;
  account_id: string;
  /** IDR, scale 4, signed. */
  amount: Money;
  created_at: string;
}

/** The columns of a line, in the order of the CSV. */
export const journalColumns = ['journal_id', 'kind', 'account_id', 'amount', 'created_at'] as const;

/** The day of an export. */
export interface DayFacts {
  day: string;
  /** Whether it is final; until then lines may be added. */
  sealed: boolean;
}

/** Postings read per batch, which bounds the memory of an export. */
const batchSize = 1000;

type Row = Omit<JournalLine, 'created_at'> & { id: string; created_at: Date | string };

/**
 * Reads the journals of a day, one line per posting, in the order of writing and in one database snapshot. Holds a
 * connection until the generator is exhausted or returned.
 */
export function readJournals(
  em: EntityManager,
  day: BookDay,
): AsyncGenerator<DayFacts | { lines: JournalLine[] }, void, undefined> {
  return readInSnapshot(em, async function* (tx) {
    yield { day: day.day, sealed: await isDaySealed(tx, day) };
    // Ids increase with time, give or take the length of a transaction: between the day's first and last id there is
    // little else, and reading in id order needs no sort.
    const [range] = await tx.execute<{ first: string | null; last: string }[]>(
      `with of_day as materialized (select id from postings where created_at >= ? and created_at < ?)
       select min(id)::text as first, max(id)::text as last from of_day`,
      [day.from, day.to],
    );
    // Force a row-by-row scan along the primary key, even if the growing table's statistics are stale: with a sort or
    // hash, or a scan of the month on its first day, each batch would cost as much as the whole day.
    await tx.execute(
      'set local enable_seqscan = off; set local enable_sort = off; set local enable_bitmapscan = off; set local enable_hashjoin = off; set local enable_mergejoin = off',
    );
    let after = range?.first == null ? null : String(BigInt(range.first) - 1n);
    while (after !== null) {
      const rows: Row[] = await tx.execute<Row[]>(
        `select p.id::text, p.journal_id, j.kind, p.account_id, p.amount::text, p.created_at
         from (select * from postings
           where id > ? and id <= ? and created_at >= ? and created_at < ? order by id limit ${batchSize}) p
         join journals j on j.id = p.journal_id
         order by p.id`,
        [after, range?.last, day.from, day.to],
      );
      yield {
        lines: rows.map(({ id: _, created_at, ...line }) => ({
          ...line,
          created_at: new Date(created_at).toISOString(),
        })),
      };
      after = rows.length < batchSize ? null : (rows.at(-1)?.id ?? null);
    }
  });
}
