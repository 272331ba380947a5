import { Readable } from 'node:stream';
import { createPlaces } from '../shared/turns.ts';
import type { StatementLine, StatementPart } from './read-statement.ts';

/** Statements that are sent at a time by one process; each holds a connection of the database. */
const concurrentStatements = 4;
/** A reader that takes nothing for this long is left. */
const stalledAfterMs = 30_000;

const places = createPlaces(concurrentStatements);

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

/**
 * A statement as it is sent, made while it is read: a slow reader slows the reading, one that stalls or leaves ends it.
 * Waits for its turn among the statements of this process.
 */
export async function streamStatement(
  format: 'json' | 'csv',
  head: object,
  read: () => AsyncIterable<StatementPart>,
): Promise<Readable> {
  const leave = await places.enter();
  let stalled: NodeJS.Timeout | undefined;
  const texts = format === 'csv' ? asCsv(read()) : asJson(head, read());
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
  body.once('close', leave);
  return body;
}
