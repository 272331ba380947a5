import { Readable } from 'node:stream';
import { budgets } from '../shared/budgets.ts';
import { createSemaphore } from '../shared/concurrency.ts';
import type { StatementLine, StatementPart } from './read-statement.ts';

/** Statements that are sent at a time by one process; each holds a connection of the database. */
const concurrentStatements = 4;
/** A reader that takes nothing for this long is left. */
const stalledAfterMs = budgets.download.stalledReader;

/** Of them for one user. */
const statementsPerUser = 2;

/** So many more of one user wait for their turn, and then it is better to say so. */
const mostWaiting = 16;
const longestWaitMs = 30_000;

const semaphore = createSemaphore(concurrentStatements, { perKey: statementsPerUser, mostWaiting });

/** The columns of a line, in the order of the CSV. */
export const statementColumns = ['created_at', 'amount', 'running_balance', 'journal_id', 'kind'] as const;

async function* asJson(head: object, parts: AsyncIterable<StatementPart>): AsyncGenerator<string> {
  let separator = '';
  for await (const part of parts) {
    if ('lines' in part) {
      yield separator + part.lines.map((line) => JSON.stringify(line)).join(',');
      separator = ',';
    } else {
      const balances = JSON.stringify(part).slice(1, -1);
      yield `${JSON.stringify(head).slice(0, -1)},"data":{${balances},"postings":[`;
    }
  }
  yield ']}}';
}

const csvLine = (line: StatementLine): string => `${statementColumns.map((column) => line[column]).join(',')}\r\n`;

async function* asCsv(parts: AsyncIterable<StatementPart>): AsyncGenerator<string> {
  yield `${statementColumns.join(',')}\r\n`;
  for await (const part of parts) if ('lines' in part) yield part.lines.map(csvLine).join('');
}

/** The same parts, of which the first has been read. */
async function* withFirst(
  first: IteratorResult<StatementPart, void>,
  rest: AsyncIterable<StatementPart>,
): AsyncGenerator<StatementPart> {
  if (!first.done) yield first.value;
  yield* rest;
}

/**
 * A statement as it is sent, made while it is read: a slow reader slows the reading, one that stalls or leaves ends it.
 * Waits for its turn among the statements of this process, of which one user may read two at a time.
 */
export async function streamStatement(
  userId: string,
  format: 'json' | 'csv',
  head: object,
  read: () => AsyncGenerator<StatementPart, void, undefined>,
): Promise<Readable> {
  const leave = await semaphore.enter({ key: userId, waitMs: longestWaitMs });
  let stalled: NodeJS.Timeout | undefined;
  const reading = read();
  // Read before anything is sent, so that what cannot be read is refused like every other request.
  const first = await reading.next().catch((error: unknown) => {
    leave();
    throw error;
  });
  const parts = withFirst(first, reading);
  const texts = format === 'csv' ? asCsv(parts) : asJson(head, parts);
  async function* watched(): AsyncGenerator<string> {
    try {
      for await (const text of texts) {
        stalled = setTimeout(() => body.destroy(new Error('the reader of a statement has stalled')), stalledAfterMs);
        yield text;
        clearTimeout(stalled);
      }
    } finally {
      clearTimeout(stalled);
    }
  }
  const body: Readable = Readable.from(watched());
  // Also of a reader that left before the first line: the reading holds a connection until it is ended.
  body.once('close', () => void reading.return().then(leave, leave));
  return body;
}
