import type { Sealer } from '../encryption/sealer.ts';
import type { Caller } from '../identity/caller.ts';
import { refuse } from '../shared/errors.ts';
import type { Storage, StoredObject } from '../storage/storage.ts';
import type { Document } from './document.entity.ts';
import { isInSpaceOf, placeOfUrl } from './document.ts';

/** The storage key of a document, opened. */
export const openUrl = (sealer: Sealer, { id, url_sealed }: Pick<Document, 'id' | 'url_sealed'>): Promise<string> =>
  sealer.open(placeOfUrl(id), url_sealed);

/** The object under a key that the caller names. Refuses: not of the caller's space (400), nothing there (404). */
export async function getOwnObject(storage: Storage, caller: Caller, key: string): Promise<StoredObject> {
  if (!isInSpaceOf(caller, key)) refuse('REQUEST_INVALID', 'url: this is no file of yours');
  return (await storage.find(key)) ?? refuse('NOT_FOUND', 'url: there is no such file');
}
