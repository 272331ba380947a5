import pg from 'pg';
import { must } from '../../src/shared/assert.ts';
import { budgets } from '../../src/shared/budgets.ts';
import { errorCodeOf } from '../../src/shared/errors.ts';

/** The product's time-out for one statement of a check. */
const longest = budgets.database.checks.statement;

/** The settings the database needs to count what statements read. */
export const countingSettings = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.max': '10000',
  'pg_stat_statements.track': 'top',
};

/** The cost of an operation. */
export interface Taken {
  ms: number;
  /** Blocks of 8 kB of tables and indexes that its statements read, from memory or disk. */
  blocks: number;
  /** Rows that its plan's nodes returned or removed, where known. Reveals nested loops, which blocks do not. */
  rows?: number;
  /** Blocks read to count the list's total, not included in `blocks`. */
  counted?: number;
  /** The number of items returned. */
  answer: number;
  /** The total of the list whose page was returned. */
  total?: number;
}

interface Node {
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Join Filter'?: number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: Node[];
}

const rowsIn = (node: Node): number =>
  node['Actual Loops'] *
    (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0)) +
  (node.Plans ?? []).reduce((sum, inner) => sum + rowsIn(inner), 0);

/** Counts the blocks that all statements in a database read. */
export async function countBlocks(url: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  // A check may take as long here as in the product.
  await client.query(`set statement_timeout = ${longest}; set transaction_timeout = 0`);
  await client.query('create extension if not exists pg_stat_statements');
  const total = async (): Promise<{ all: number; counts: number }> => {
    const { rows } = await client.query<{ blocks: string; counts: string }>(
      `select coalesce(sum(read), 0) as blocks, coalesce(sum(read) filter (where query ~ '^select count\\(\\*\\)'), 0) as counts
       from (select query, shared_blks_hit + shared_blks_read as read from pg_stat_statements) s
       where query not like '%pg_stat_statements%'`,
    );
    return { all: Number(rows[0]?.blocks), counts: Number(rows[0]?.counts) };
  };
  return {
    /** Runs the work and returns its cost; the cost of counting a total is returned separately. */
    async during(
      work: () => Promise<number | Pick<Taken, 'answer' | 'total'>>,
      { countsTotal = false } = {},
    ): Promise<Taken> {
      await client.query('select pg_stat_statements_reset()');
      const started = performance.now();
      const answered = await work();
      const ms = performance.now() - started;
      const { all, counts } = await total();
      const taken = { ...(typeof answered === 'number' ? { answer: answered } : answered), ms };
      return countsTotal ? { ...taken, blocks: all - counts, counted: counts } : { ...taken, blocks: all };
    },
    /**
     * Reads a view that covers the given number of rows, in full or from an instant on. Throws if the view is not
     * empty, or if reading takes longer than the product allows a check.
     */
    async readEmpty(view: string, answer: number, since?: string): Promise<Taken> {
      await client.query('begin');
      if (since !== undefined) {
        await client.query(
          "select set_config('amanah.checks_since', uuidv7($1::timestamptz - clock_timestamp())::text, true)",
          [since],
        );
      }
      const { rows } = await client
        .query<{ 'QUERY PLAN': [{ Plan: Node; 'Execution Time': number }] }>(
          `explain (analyze, buffers, timing off, format json) select * from "${view}"`,
        )
        .catch((cause: unknown) => {
          if (errorCodeOf(cause) !== '57014') throw cause;
          throw new Error(`the check takes longer than the ${longest / 1000} s that a check may take`, { cause });
        })
        .finally(() => client.query('rollback'));
      const [{ Plan: plan, 'Execution Time': ms }] = must(rows[0], 'a statement has a plan')['QUERY PLAN'];
      if (plan['Actual Rows'] > 0) {
        const found = await client.query<object>(`select * from "${view}" limit 3`);
        throw new Error(`the check returned ${plan['Actual Rows']} rows: ${JSON.stringify(found.rows)}`);
      }
      return {
        ms,
        blocks: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'],
        rows: Math.round(rowsIn(plan)),
        answer,
      };
    },
    /** Runs a statement as the owner. */
    async ask<Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> {
      return (await client.query<Row>(sql, values)).rows;
    },
    [Symbol.asyncDispose]: () => client.end(),
  };
}
