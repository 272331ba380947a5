import type { EntityManager } from '@mikro-orm/postgresql';
import { readInSnapshot } from '../platform/database/read-in-snapshot.ts';
import { must } from '../shared/assert.ts';
import { addMoney, type Money } from '../shared/money.ts';

/** An account, and the period of its statement: `from` inclusive, `to` exclusive; open-ended if undefined. */
export interface StatementPeriod {
  accountId: string;
  from?: Date | undefined;
  to?: Date | undefined;
}

/** The client's own references for the subject of a posting; each null if there is none. */
export interface PostingReferences {
  reference: string | null;
  external_ref: string | null;
  beneficiary_name: string | null;
}

export interface StatementLine extends Partial<PostingReferences> {
  created_at: string;
  /** IDR, scale 4, signed. */
  amount: Money;
  running_balance: Money;
  journal_id: string;
  kind: string;
}

/** The columns of a line, in the order of the CSV. */
export const statementColumns = ['created_at', 'amount', 'running_balance', 'journal_id', 'kind'] as const;
/** The additional columns of a statement that describes its postings. */
export const referenceColumns = ['reference', 'external_ref', 'beneficiary_name'] as const;

/** Describes journals by their ids, in the statement's own snapshot. */
export type DescribePostings = (
  tx: EntityManager,
  journalIds: readonly string[],
) => Promise<ReadonlyMap<string, PostingReferences>>;

const nameless: PostingReferences = { reference: null, external_ref: null, beneficiary_name: null };

/** The balances before and after the period, then its postings in batches, all from one snapshot. */
export type StatementPart = { opening_balance: Money; closing_balance: Money } | { lines: readonly StatementLine[] };

/** Postings per batch; a statement holds one batch in memory. */
const batchSize = 1000;

interface PostingRow {
  id: string;
  created_at: Date | string;
  amount: Money;
  journal_id: string;
  kind: string;
}

/**
 * Reads a statement in parts, from one database snapshot, so that opening balance, lines and closing balance agree
 * despite concurrent postings. Holds a connection until the generator is exhausted or returned. With `describe` every
 * line has references to its subject.
 */
export function readStatement(
  em: EntityManager,
  { accountId, from, to }: StatementPeriod,
  describe?: DescribePostings,
): AsyncGenerator<StatementPart, void, undefined> {
  return readInSnapshot(em, async function* (tx) {
    const [balances] = await tx.execute<{ opening: Money; closing: Money }[]>(
      `select balance_before(account.id, ?)::numeric(20, 4)::text as opening,
         case when ?::timestamptz = 'infinity' then account_balance(account.id)
           else balance_before(account.id, ?) end::numeric(20, 4)::text as closing
       from (select ?::uuid as id) account`,
      [from ?? '-infinity', to ?? 'infinity', to ?? 'infinity', accountId],
    );
    const { opening, closing } = must(balances, 'an account has a balance');
    yield { opening_balance: opening, closing_balance: closing };
    let running = opening;
    for (let last: string | undefined; ; ) {
      const rows: PostingRow[] = await tx.execute<PostingRow[]>(
        `select p.id::text, p.created_at, p.amount::text, p.journal_id, j.kind
         from postings p join journals j on j.id = p.journal_id
         where p.account_id = ? and p.created_at >= ? and p.created_at < ?
           ${last === undefined ? '' : 'and (p.created_at, p.id) > (select l.created_at, l.id from postings l where l.id = ?)'}
         order by p.created_at, p.id limit ${batchSize}`,
        [accountId, from ?? '-infinity', to ?? 'infinity', ...(last === undefined ? [] : [last])],
      );
      if (rows.length > 0) {
        const described = await describe?.(
          tx,
          rows.map(({ journal_id }) => journal_id),
        );
        yield {
          lines: rows.map(({ created_at, amount, journal_id, kind }) => {
            running = addMoney(running, amount);
            return {
              created_at: new Date(created_at).toISOString(),
              amount,
              running_balance: running,
              journal_id,
              kind,
              ...(described && (described.get(journal_id) ?? nameless)),
            };
          }),
        };
      }
      if (rows.length < batchSize) break;
      last = rows.at(-1)?.id;
    }
  });
}
