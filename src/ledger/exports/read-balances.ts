import type { EntityManager } from '@mikro-orm/postgresql';
import { readInSnapshot } from '../../platform/database/read-in-snapshot.ts';
import type { Money } from '../../shared/money.ts';
import { type BookDay, isDaySealed } from '../seals/day-seal.ts';
import type { DayFacts } from './read-journals.ts';

/** An account's balances at the beginning and the end of the day. */
export interface BalanceLine {
  account_id: string;
  /** The account's kind. */
  kind: string;
  /** IDR, scale 4; may be negative where the account allows it. */
  opening_balance: Money;
  closing_balance: Money;
}

/** The columns of a line, in the order of the CSV. */
export const balanceColumns = ['account_id', 'kind', 'opening_balance', 'closing_balance'] as const;

/** Accounts read per batch. */
const batchSize = 1000;
const firstId = '00000000-0000-0000-0000-000000000000';

type Row = BalanceLine & { is_idle: boolean };

/**
 * Reads the balances of a day, in the order of account ids and in one database snapshot, of every account that had a
 * balance when the day began or ended, or a posting during the day. Holds a connection until the generator is exhausted
 * or returned.
 */
export function readDayBalances(
  em: EntityManager,
  day: BookDay,
): AsyncGenerator<DayFacts | { lines: BalanceLine[] }, void, undefined> {
  return readInSnapshot(em, async function* (tx) {
    yield { day: day.day, sealed: await isDaySealed(tx, day) };
    for (let after: string | null = firstId; after !== null; ) {
      const rows: Row[] = await tx.execute<Row[]>(
        `select a.id as account_id, a.kind, b.opening::numeric(20, 4)::text as opening_balance,
           b.closing::numeric(20, 4)::text as closing_balance,
           b.opening = 0 and b.closing = 0 and not b.moved as is_idle
         from (select id, kind from accounts where id > ? order by id limit ${batchSize}) a
         cross join lateral (
           select balance_before(a.id, ?) as opening, balance_before(a.id, ?) as closing,
             exists (select from postings where account_id = a.id and created_at >= ? and created_at < ?) as moved) b
         order by a.id`,
        [after, day.from, day.to, day.from, day.to],
      );
      yield { lines: rows.filter(({ is_idle }) => !is_idle).map(({ is_idle: _, ...line }) => line) };
      after = rows.length < batchSize ? null : (rows.at(-1)?.account_id ?? null);
    }
  });
}
