import { Readable } from 'node:stream';
import type { Context } from 'koa';
import { must } from '../../shared/assert.ts';
import { budgets } from '../../shared/budgets.ts';
import { createSemaphore } from '../../shared/concurrency.ts';
import { type CsvCell, csvLine } from '../../shared/csv.ts';
import { type Answer, stream } from './answer.ts';

/** A document in parts: its facts first, then its lines in batches. */
export type DocumentPart<Facts extends object, Line> = Facts | { lines: readonly Line[] };

/** The formats of a document and their content types. */
const contentTypes = {
  json: 'application/json',
  csv: 'text/csv; charset=utf-8',
  html: 'text/html; charset=utf-8',
} as const;

export type DocumentFormat = keyof typeof contentTypes;

/** The formats of most documents. */
export const jsonOrCsv = ['json', 'csv'] as const;

/** Returns a format's content type without its parameters. */
export const mediaTypeOf = (format: DocumentFormat): string => contentTypes[format].replace(/;.*/, '');

/** How to render the parts as a body. */
export interface DocumentForm<Facts extends object, Line> {
  format: DocumentFormat;
  /** The fields beside `data` in JSON; at least one. */
  envelope: object;
  /** The field of `data` that holds the lines, after the facts. */
  list: string;
  /** The columns of the CSV; JSON has every field of a line. */
  columns: readonly (keyof Line & string)[];
  /** Whether the CSV begins with a byte order mark. */
  bom?: boolean | undefined;
  /** Renders the HTML page; required when the format is `html`. */
  page?: (parts: AsyncIterable<DocumentPart<Facts, Line>>) => AsyncIterable<string>;
}

/** The reader of a document. */
export interface DocumentReader {
  id: string;
  /** Whether the reader signed up without an invitation, as anybody may, with any number of accounts. */
  signedUp: boolean;
}

/** Maximum concurrent document streams per process; each holds a database connection. */
const concurrentDocuments = 4;
/** The maximum for readers who signed up: however slowly they read, one stream is left to partners and operators. */
const ofSignedUp = 3;
/** A client that reads nothing for this long is cut off. */
const stalledAfterMs = budgets.download.stalledReader;
/** Maximum concurrent streams to one reader. */
const documentsPerReader = 2;
/** Maximum waiting requests of one reader; more are refused. */
const mostWaiting = 16;
const longestWaitMs = 30_000;

const bounds = { perKey: documentsPerReader, mostWaiting };
const semaphore = createSemaphore(concurrentDocuments, bounds);
const signedUpSemaphore = createSemaphore(ofSignedUp, bounds);

async function enterAs({ id: key, signedUp }: DocumentReader): Promise<() => void> {
  const turn = { key, waitMs: longestWaitMs };
  const leaveSignedUp = signedUp ? await signedUpSemaphore.enter(turn) : () => {};
  try {
    const leave = await semaphore.enter(turn);
    return () => {
      leave();
      leaveSignedUp();
    };
  } catch (error) {
    leaveSignedUp();
    throw error;
  }
}

async function* asJson<Facts extends object, Line>(
  { envelope, list }: DocumentForm<Facts, Line>,
  parts: AsyncIterable<DocumentPart<Facts, Line>>,
): AsyncGenerator<string> {
  let separator = '';
  for await (const part of parts) {
    if ('lines' in part) {
      if (part.lines.length === 0) continue;
      yield separator + part.lines.map((line) => JSON.stringify(line)).join(',');
      separator = ',';
    } else {
      const facts = JSON.stringify(part).slice(1, -1);
      yield `${JSON.stringify(envelope).slice(0, -1)},"data":{${facts},"${list}":[`;
    }
  }
  yield ']}}';
}

async function* asCsv<Facts extends object, Line>(
  { columns, bom }: DocumentForm<Facts, Line>,
  parts: AsyncIterable<DocumentPart<Facts, Line>>,
): AsyncGenerator<string> {
  yield (bom ? '\uFEFF' : '') + csvLine(columns);
  for await (const part of parts) {
    if (!('lines' in part)) continue;
    yield part.lines.map((line) => csvLine(columns.map((column) => line[column] as CsvCell))).join('');
  }
}

/** Yields the first part, already read, and then the rest. */
async function* withFirst<Part>(first: IteratorResult<Part, void>, rest: AsyncIterable<Part>): AsyncGenerator<Part> {
  if (!first.done) yield first.value;
  yield* rest;
}

function renderingOf<Facts extends object, Line>(form: DocumentForm<Facts, Line>) {
  type Parts = AsyncIterable<DocumentPart<Facts, Line>>;
  if (form.format === 'html') return must(form.page, 'only a document with a page can be requested as HTML');
  return form.format === 'csv' ? (parts: Parts) => asCsv(form, parts) : (parts: Parts) => asJson(form, parts);
}

/**
 * Renders a document while sending it: a slow client slows down the database read, and a stalled or disconnected client
 * ends it. Waits for this process's semaphore, in which one reader may hold two places.
 */
export async function streamDocument<Facts extends object, Line>(
  reader: DocumentReader,
  form: DocumentForm<Facts, Line>,
  read: () => AsyncGenerator<DocumentPart<Facts, Line>, void, undefined>,
): Promise<Readable> {
  const leave = await enterAs(reader);
  let stalled: NodeJS.Timeout | undefined;
  const reading = read();
  // Reads the first part before sending anything, so that a failing read is refused like any other request.
  const first = await reading.next().catch((error: unknown) => {
    leave();
    throw error;
  });
  const parts = withFirst(first, reading);
  const texts = renderingOf(form)(parts);
  async function* watched(): AsyncGenerator<string> {
    try {
      for await (const text of texts) {
        stalled = setTimeout(() => body.destroy(new Error('the reader of a document has stalled')), stalledAfterMs);
        yield text;
        clearTimeout(stalled);
      }
    } finally {
      clearTimeout(stalled);
    }
  }
  const body: Readable = Readable.from(watched());
  // Closes the read, which holds a database connection, even if the client disconnected before the first line.
  body.once('close', () => void reading.return().then(leave, leave));
  return body;
}

/** Returns the format that the `Accept` header prefers, JSON if none matches. */
function documentFormat(ctx: Context, formats: readonly DocumentFormat[]): DocumentFormat {
  const types = formats.map(mediaTypeOf);
  return formats[types.indexOf(String(ctx.accepts(...types)))] ?? 'json';
}

/**
 * Returns the response that streams a document to `reader` in the format that the request prefers; CSV is a file with
 * this name. Throws like `streamDocument`.
 */
export async function sendDocument<Facts extends object, Line>(
  ctx: Context,
  { reader, name, formats = jsonOrCsv }: { reader: DocumentReader; name: string; formats?: readonly DocumentFormat[] },
  form: Omit<DocumentForm<Facts, Line>, 'format'>,
  read: () => AsyncGenerator<DocumentPart<Facts, Line>, void, undefined>,
): Promise<Answer> {
  const format = documentFormat(ctx, formats);
  const body = await streamDocument(reader, { ...form, format }, read);
  const isFile = format === 'csv' && { 'content-disposition': `attachment; filename="${name}.csv"` };
  return stream(body, { 'content-type': contentTypes[format], ...isFile });
}
