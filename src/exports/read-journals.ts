import { type EntityManager, IsolationLevel } from '@mikro-orm/postgresql';
import { allowTime } from '../database/database-time-outs.ts';
import { type BookDay, isDaySealed } from '../seals/day-seal.ts';
import { budgets } from '../shared/budgets.ts';
import type { Money } from '../shared/money.ts';

/** One posting of a journal. */
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

/** What an export says of its day. */
export interface DayFacts {
  day: string;
  /** Fixed for ever; until then lines may be added. */
  sealed: boolean;
}

/** Postings read at a time; what an export holds in memory. */
const batchSize = 1000;

type Row = Omit<JournalLine, 'created_at'> & { id: string; created_at: Date | string };

/**
 * Reads the journals of a day, a line for each posting, in the order in which they were written and in one snapshot of the
 * database. Holds a connection until it has been read to its end or is returned.
 */
export async function* readJournals(
  em: EntityManager,
  day: BookDay,
): AsyncGenerator<DayFacts | { lines: JournalLine[] }, void, undefined> {
  const tx = em.fork();
  await tx.begin({ isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true });
  try {
    await allowTime(tx, budgets.database.download);
    yield { day: day.day, sealed: await isDaySealed(tx, day) };
    // Ids grow with time but for the length of a transaction: between the first and the last of the day there is little
    // else, and going through them in their order needs no sort.
    const [range] = await tx.execute<{ first: string | null; last: string }[]>(
      `with of_day as materialized (select id from postings where created_at >= ? and created_at < ?)
       select min(id)::text as first, max(id)::text as last from of_day`,
      [day.from, day.to],
    );
    // Row by row along the primary key, whatever the planner knows of a table that grows: sorted or hashed, each batch
    // would cost as much as the whole day.
    await tx.execute(
      'set local enable_bitmapscan = off; set local enable_hashjoin = off; set local enable_mergejoin = off',
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
  } finally {
    await tx.rollback();
  }
}
