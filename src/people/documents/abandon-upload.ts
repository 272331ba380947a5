import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { newId } from '../../shared/ids.ts';
import type { Document } from './document.entity.ts';
import { hashOfUrl, lockObject, openUrl } from './stored-url.ts';

export const placeOfUpload = (id: string) => ({ table: 'document_uploads', column: 'url_sealed', row: id });

/** An abandoned object: its storage key, and the id of its row in `document_uploads`. */
export interface GivenUp {
  id: string;
  key: string;
}

/**
 * Records in the caller's transaction that a document no longer uses its object. After the commit `removeGivenUp`
 * removes the object unless another document uses it; if that fails, the sweep does.
 */
export async function giveUpObject(tx: EntityManager, sealer: Sealer, document: Document): Promise<GivenUp> {
  const id = newId();
  const key = await openUrl(sealer, document);
  await tx.execute('insert into document_uploads (id, user_id, given_up, url_sealed) values (?, ?, true, ?)', [
    id,
    document.created_by,
    await sealer.seal(placeOfUpload(id), key),
  ]);
  return { id, key };
}

/** Tries to remove an abandoned object after the commit; if that fails, the sweep does. */
export async function removeGivenUp(
  em: EntityManager,
  { storage, sealer }: { storage: Storage; sealer: Sealer },
  { id, key }: GivenUp,
): Promise<void> {
  await failpoint('remove-given-up.before');
  try {
    // Wait for unreachable storage here, without holding a database connection.
    await storage.find(key);
    await abandonUpload(em.fork(), { storage, sealer }, id);
  } catch {
    // Keep the row for the sweep.
  }
}

/**
 * Removes an object that no document uses. Locks the upload's row, then the object. The row lock waits for a
 * transaction that creates a document from the upload and deletes the row; the object lock waits for a registration.
 * The row stays until the store confirms the removal.
 */
export async function abandonUpload(
  em: EntityManager,
  { storage, sealer }: { storage: Pick<Storage, 'remove'>; sealer: Sealer },
  id: string,
): Promise<void> {
  await em.transactional(async (tx) => {
    const [upload] = await tx.execute<{ url_sealed: string }[]>(
      'select url_sealed from document_uploads where id = ? for update',
      [id],
    );
    if (upload === undefined) return;
    const key = await sealer.open(placeOfUpload(id), upload.url_sealed);
    await lockObject(tx, key);
    if (!(await isCarried(tx, key))) await storage.remove(key);
    await tx.execute('delete from document_uploads where id = ?', [id]);
  });
}

/** Removes an object known only by its key, unless a document refers to it. */
export async function removeUncarried(em: EntityManager, storage: Pick<Storage, 'remove'>, key: string): Promise<void> {
  await em.transactional(async (tx) => {
    await lockObject(tx, key);
    if (!(await isCarried(tx, key))) await storage.remove(key);
  });
}

async function isCarried(tx: EntityManager, key: string): Promise<boolean> {
  const [{ carried }] = await tx.execute<[{ carried: boolean }]>(
    'select exists (select from documents where url_hash = ? and deleted_at is null) as carried',
    [hashOfUrl(key)],
  );
  return carried;
}
