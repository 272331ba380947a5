import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import type { Storage, StoredObject } from '../../platform/storage/storage.ts';
import type { Caller } from '../../shared/caller.ts';
import { sha256 } from '../../shared/digest.ts';
import { refuse } from '../../shared/errors.ts';
import { Document } from './document.entity.ts';
import { isInSpaceOf, placeOfUrl } from './document.ts';
import { openFileName } from './file-name.ts';
import { visibleTo } from './find-documents.ts';

/** Decrypts the storage key of a document. */
export const openUrl = (sealer: Sealer, { id, url_sealed }: Pick<Document, 'id' | 'url_sealed'>): Promise<string> =>
  sealer.open(placeOfUrl(id), url_sealed);

/** Returns the hash by which documents are found, as the storage key itself is sealed. */
export const hashOfUrl = (key: string): string => sha256(key);

/** Locks an object: until the transaction ends, no other transaction can attach it to a document or remove it. */
export async function lockObject(tx: EntityManager, key: string): Promise<void> {
  await tx.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [hashOfUrl(key)]);
}

const refuseForeign = (): never => refuse('REQUEST_INVALID', 'this file is not yours', { field: 'url' });

/**
 * Returns the object with this key. Throws 400 if it is not in the caller's space, 404 if it does not exist. Call it
 * outside a transaction first, so that no database connection waits while storage is down.
 */
export async function getOwnObject(storage: Storage, caller: Caller, key: string): Promise<StoredObject> {
  if (!isInSpaceOf(caller, key)) refuseForeign();
  return (await storage.find(key)) ?? refuse('NOT_FOUND', 'the file was not found', { field: 'url' });
}

/** An object in storage, and the name under which it was uploaded. */
export interface NamedObject extends StoredObject {
  fileName: string | null;
}

/**
 * As `getOwnObject`, and locks the object until the transaction ends. Also throws 400 if a document that the caller may
 * not see uses the object, or if it is the scan of another user's deleted identity document, which is about to be
 * removed. Throws KeysAway while the key of the file name is missing, because the name must be stored.
 */
export async function lockOwnObject(
  tx: EntityManager,
  { storage, sealer }: { storage: Storage; sealer: Sealer },
  caller: Caller,
  key: string,
): Promise<NamedObject> {
  await lockObject(tx, key);
  const carriers = { url_hash: hashOfUrl(key), deleted_at: null };
  const seen = await tx.count(Document, { $and: [carriers, visibleTo(caller)] });
  if (seen < (await tx.count(Document, carriers))) refuseForeign();
  const scans = { url_hash: hashOfUrl(key), identity_scan: true, created_by: { $ne: caller.userId } };
  if ((await tx.count(Document, scans)) > 0 && seen === 0) refuseForeign();
  const named = await tx.findOne(Document, { $and: [carriers, { file_name_sealed: { $ne: null } }] });
  const fileName = named === null ? null : await openFileName(sealer, named);
  return { ...(await getOwnObject(storage, caller, key)), fileName };
}
