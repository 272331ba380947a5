import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../encryption/sealer.ts';
import { failpoint } from '../shared/failpoint.ts';
import { newId } from '../shared/ids.ts';
import type { Storage } from '../storage/storage.ts';
import { hashOfUrl, lockObject } from './stored-url.ts';

export const placeOfUpload = (id: string) => ({ table: 'document_uploads', column: 'url_sealed', row: id });

/** An object that its document gave up: the id of its row among the uploads that became nothing, and its key. */
export interface GivenUp {
  id: string;
  key: string;
}

/**
 * Notes in the caller's transaction that a document gave up this object: once that has committed, `removeGivenUp` removes it
 * if no other document carries it, and the sweep does what that could not.
 */
export async function giveUpObject(tx: EntityManager, sealer: Sealer, key: string): Promise<GivenUp> {
  const id = newId();
  await tx.execute('insert into document_uploads (id, url_sealed) values (?, ?)', [
    id,
    await sealer.seal(placeOfUpload(id), key),
  ]);
  return { id, key };
}

/** Removes what was given up, after the commit, if that can be done now; what cannot is left to the sweep. */
export async function removeGivenUp(
  em: EntityManager,
  { storage, sealer }: { storage: Storage; sealer: Sealer },
  { id, key }: GivenUp,
): Promise<void> {
  await failpoint('remove-given-up.before');
  try {
    // Storage that is away is waited for without a connection to the database.
    await storage.find(key);
    await abandonUpload(em.fork(), { storage, sealer }, id);
  } catch {
    // The row stays, and the sweep finds it.
  }
}

/**
 * Takes away an object that did not become a document, or that its document gave up, unless a document carries it. The
 * row's lock decides against a document that is being made of the upload at this moment: once that has committed there
 * is nothing left to abandon. The object's lock decides against one that is being registered.
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
    const carrier = await findCarrier(tx, key);
    // Whether an unread document carries it is known when the sweep has read them all.
    if (carrier === 'unread') return;
    if (carrier === 'none') await storage.remove(key);
    await tx.execute('delete from document_uploads where id = ?', [id]);
  });
}

async function findCarrier(tx: EntityManager, key: string): Promise<'some' | 'none' | 'unread'> {
  const [found] = await tx.execute<[{ carried: boolean; unread: boolean }]>(
    `select exists (select from documents where url_hash = ? and deleted_at is null) as carried,
       exists (select from documents where url_hash is null and deleted_at is null) as unread`,
    [hashOfUrl(key)],
  );
  if (found.carried) return 'some';
  return found.unread ? 'unread' : 'none';
}
