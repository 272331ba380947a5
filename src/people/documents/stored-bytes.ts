import type { EntityManager } from '@mikro-orm/postgresql';
import { must } from '../../shared/assert.ts';
import { refuse } from '../../shared/errors.ts';

/** An object about to be added to its user's stored files; sizes in bytes. */
interface Addition {
  userId: string;
  sizeBytes: number;
  maximumBytes: number;
  /** The field of the request that names the object. */
  field: 'file' | 'url';
  /** The hash of the object's key, which finds the documents that use it; absent for a new object. */
  urlHash?: string;
  /** The document that will use the object instead of its current one. */
  documentId?: string;
}

/**
 * Throws 400 if the object would take its user's documents over the limit. An object counts once for each user with a
 * document of it, whoever uploaded it.
 */
export async function refuseBeyondStoredBytes(
  em: EntityManager,
  { userId, sizeBytes, maximumBytes, field, urlHash = '', documentId }: Addition,
): Promise<void> {
  const [row] = await em.execute<{ stored: string; is_carried: boolean }[]>(
    `select coalesce(sum(size_bytes), 0) as stored, coalesce(bool_or(url_hash = ?), false) as is_carried from (
       select distinct on (url_hash) url_hash, size_bytes from documents
       where created_by = ? and deleted_at is null and id is distinct from ?::uuid) objects`,
    [urlHash, userId, documentId ?? null],
  );
  const { stored, is_carried } = must(row, 'a sum returns a row');
  if (is_carried || Number(stored) + sizeBytes <= maximumBytes) return;
  refuse('REQUEST_INVALID', `your files already take ${stored} bytes; the limit for a user is ${maximumBytes}`, {
    field,
  });
}

/** As `refuseBeyondStoredBytes`; the user's other additions wait until the transaction ends. */
export async function guardStoredBytes(tx: EntityManager, addition: Addition): Promise<void> {
  await tx.execute("select pg_advisory_xact_lock(hashtextextended('stored-bytes/' || ?, 0))", [addition.userId]);
  await refuseBeyondStoredBytes(tx, addition);
}
