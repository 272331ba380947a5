import { Readable } from 'node:stream';
import type { EntityManager } from '@mikro-orm/postgresql';
import { withTime } from '../../platform/database/database-time-outs.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { budgets } from '../../shared/budgets.ts';
import { sha256 } from '../../shared/digest.ts';
import { isDomainError } from '../../shared/errors.ts';
import { hashJournals } from './describe-journals.ts';
import { hashOfSeal, manifestLine, type SealStatement, sealKey, sealObject } from './seal.ts';

/**
 * Ensures that a seal's object is stored. The seal determines its bytes, so a concurrent or delayed write does no harm.
 * Reads the manifest from the journals unless given. Throws if the journals differ from the sealed ones, or if the file
 * store is unavailable.
 */
export async function storeSeal(
  em: EntityManager,
  storage: Storage,
  { jws, statement, manifest }: { jws: string; statement: SealStatement; manifest?: string },
): Promise<void> {
  const key = sealKey(statement, hashOfSeal(jws));
  await orAgain(async () => {
    if ((await storage.find(key)) !== null) return;
    const content = Buffer.from(sealObject(jws, manifest ?? (await readManifest(em, statement))));
    await storage.put(
      key,
      { contentType: 'text/plain; charset=utf-8', sizeBytes: content.length, sha256: sha256(content) },
      Readable.from([content], { objectMode: false }),
    );
  });
}

async function readManifest(em: EntityManager, { number, manifest: digest }: SealStatement): Promise<string> {
  const manifest = await withTime(em, budgets.database.seal, async (tx) => {
    const rows = await tx.execute<{ journal_id: string }[]>(
      'select journal_id from seal_journals where seal_number = ?',
      [number],
    );
    let lines = '';
    for await (const journal of hashJournals(
      tx,
      rows.map(({ journal_id }) => journal_id),
    )) {
      lines += manifestLine(journal);
    }
    return lines;
  });
  if (sha256(manifest) !== digest) throw new Error(`the journals of seal ${number} are not what was sealed`);
  return manifest;
}

/** Converts the store's domain error, which is meant for API callers, to a plain error, so that the step is retried. */
async function orAgain(storing: () => Promise<void>): Promise<void> {
  try {
    await storing();
  } catch (error) {
    throw isDomainError(error) ? new Error('the file store is down', { cause: error }) : error;
  }
}
