import { Readable } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { EntityManager } from '@mikro-orm/postgresql';
import { must } from '../../shared/assert.ts';
import { sha256 } from '../../shared/digest.ts';
import type { Storage } from '../storage/storage.ts';
import { type ArchivedPart, maximumObjectBytes, partKey, rowsPerPart } from './archived-month.ts';

export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** The rows of a part, ordered by id. Equal rows always give equal text. */
export interface RowsOfPart {
  rows: number;
  /** JSON objects, each followed by a line feed; instants in UTC, with microseconds. */
  lines: string;
}

/** Returns a table's columns in order. */
export async function findColumns(em: EntityManager, table: string): Promise<string[]> {
  const rows = await em.execute<{ name: string }[]>(
    `select attname as name from pg_attribute where attrelid = ?::regclass and attnum > 0 and not attisdropped
     order by attnum`,
    [`public.${table}`],
  );
  return rows.map(({ name }) => name);
}

/** Reads a partition part by part; it must be closed to writers. */
export async function* readParts(
  em: EntityManager,
  partition: string,
  columns: readonly string[],
): AsyncGenerator<RowsOfPart> {
  let after: string | null = null;
  for (;;) {
    const read: { id: string; line: string }[] = await em.transactional(async (tx) => {
      await tx.execute("select set_config('timezone', 'UTC', true)");
      return tx.execute(
        `select r.id, to_jsonb(r)::text as line from (
           select ${columns.map(quoteName).join(', ')} from months.${quoteName(partition)}
           ${after === null ? '' : 'where id > ?'} order by id limit ${rowsPerPart}) r order by r.id`,
        after === null ? [] : [after],
      );
    });
    if (read.length > 0) yield { rows: read.length, lines: read.map(({ line }) => `${line}\n`).join('') };
    if (read.length < rowsPerPart) return;
    after = must(read.at(-1), 'a full page has a last row').id;
  }
}

/** Stores a part unless it exists, and reads it back. Throws when the content differs. */
export async function storePart(
  storage: Storage,
  place: { table: string; month: string; number: number },
  { rows, lines }: RowsOfPart,
): Promise<ArchivedPart> {
  const content = gzipSync(lines);
  const hash = sha256(content);
  const key = partKey(place.table, place.month, place.number, hash);
  await storeObject(storage, { key, content, sha256: hash, contentType: 'application/gzip' });
  return { key, rows, sha256: hash, lines_sha256: sha256(lines) };
}

/** Stores an object unless it exists, and reads it back. Throws when the content differs. */
export async function storeObject(
  storage: Storage,
  { key, content, sha256: hash, contentType }: { key: string; content: Buffer; sha256: string; contentType: string },
): Promise<void> {
  if ((await storage.find(key)) === null) {
    const body = Readable.from([content], { objectMode: false });
    await storage.put(key, { contentType, sizeBytes: content.length, sha256: hash }, body);
  }
  await readObject(storage, { key, sha256: hash });
}

/** Returns an object's content. If it is missing or differs, throws an error that names it. */
export async function readObject(storage: Storage, object: { key: string; sha256: string }): Promise<Buffer> {
  const content = await storage.read(object.key, maximumObjectBytes);
  if (content === null) throw new Error(`the object ${object.key} is not in the file store`);
  if (sha256(content) !== object.sha256) throw new Error(`the object ${object.key} is not what was archived`);
  return content;
}

/** Returns the lines of a part. Throws like `readObject`. */
export async function readPart(storage: Storage, part: ArchivedPart): Promise<string[]> {
  const lines = gunzipSync(await readObject(storage, part)).toString();
  if (sha256(lines) !== part.lines_sha256) throw new Error(`the lines of ${part.key} are not what was archived`);
  return lines.split('\n').filter((line) => line !== '');
}
