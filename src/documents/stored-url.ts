import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../encryption/sealer.ts';
import type { Caller } from '../identity/caller.ts';
import { sha256 } from '../shared/digest.ts';
import { refuse } from '../shared/errors.ts';
import type { Storage, StoredObject } from '../storage/storage.ts';
import { Document } from './document.entity.ts';
import { isInSpaceOf, placeOfUrl } from './document.ts';
import { openFileName } from './file-name.ts';
import { visibleTo } from './find-documents.ts';

/** The storage key of a document, opened. */
export const openUrl = (sealer: Sealer, { id, url_sealed }: Pick<Document, 'id' | 'url_sealed'>): Promise<string> =>
  sealer.open(placeOfUrl(id), url_sealed);

/** By what documents are found that carry the object under this key, which rests sealed. */
export const hashOfUrl = (key: string): string => sha256(key);

/** Until the transaction ends nobody else gives the object to a document or removes it. */
export async function lockObject(tx: EntityManager, key: string): Promise<void> {
  await tx.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [hashOfUrl(key)]);
}

const refuseForeign = (): never => refuse('REQUEST_INVALID', 'this is no file of yours', { field: 'url' });

/**
 * The object under a key that the caller names. Refuses: not of the caller's space (400), nothing there (404). Asked
 * outside a transaction first, so that storage that is away is not waited for with a connection in hand.
 */
export async function getOwnObject(storage: Storage, caller: Caller, key: string): Promise<StoredObject> {
  if (!isInSpaceOf(caller, key)) refuseForeign();
  return (await storage.find(key)) ?? refuse('NOT_FOUND', 'there is no such file', { field: 'url' });
}

/** An object that is in storage, and the name under which it was uploaded. */
export interface NamedObject extends StoredObject {
  fileName: string | null;
}

/**
 * As `getOwnObject`, locked until the transaction ends. Refuses also (400) an object that a document carries which the
 * caller does not see, or carried as somebody else's identity scan: that one is given up, and is to be removed.
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
