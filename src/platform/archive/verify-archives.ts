import type { EntityManager } from '@mikro-orm/postgresql';
import { isDomainError } from '../../shared/errors.ts';
import type { Storage } from '../storage/storage.ts';
import { parseManifest } from './archived-month.ts';
import { readObject } from './month-rows.ts';

export interface ArchiveVerdict {
  /** The number of archived months, counted per table. */
  months: number;
  /** Differences from the archive, one sentence each. */
  differences: string[];
  /** Why the objects were not compared; null when they were. */
  objectsNotCompared: string | null;
}

interface ArchivedRow {
  table_name: string;
  month: string;
  rows: string;
  key: string;
  sha256: string;
}

/**
 * Checks that the file store has every archived month: reads each manifest and compares each part's stored digest. If
 * the file store is unavailable, the verdict reports that.
 */
export async function verifyArchives(em: EntityManager, storage: Storage): Promise<ArchiveVerdict> {
  const rows = await em.execute<ArchivedRow[]>(
    `select table_name, to_char(month, 'YYYY-MM') as month, rows, manifest_key as key, manifest_sha256 as sha256
     from archived_months order by 1, 2`,
  );
  const differences: string[] = [];
  try {
    for (const row of rows) differences.push(...(await compare(storage, row)));
  } catch (error) {
    if (!isDomainError(error)) throw error;
    return { months: rows.length, differences, objectsNotCompared: 'the file store is unavailable' };
  }
  return { months: rows.length, differences, objectsNotCompared: null };
}

async function compare(storage: Storage, { table_name, month, rows, ...object }: ArchivedRow): Promise<string[]> {
  const told = (what: string) => `${table_name} ${month}: ${what}`;
  let content: Buffer;
  try {
    content = await readObject(storage, object);
  } catch (error) {
    if (isDomainError(error) || !Error.isError(error)) throw error;
    return [told(error.message)];
  }
  const manifest = parseManifest(content);
  const differences =
    manifest.rows === Number(rows)
      ? []
      : [told(`has ${manifest.rows} rows in its manifest but ${rows} in the database's record`)];
  for (const part of manifest.parts) {
    const stored = await storage.find(part.key);
    if (stored === null) differences.push(told(`the object ${part.key} is not in the file store`));
    else if (stored.sha256 !== part.sha256) differences.push(told(`the object ${part.key} is not what was archived`));
  }
  return differences;
}
