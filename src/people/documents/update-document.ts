import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import type { Caller } from '../../shared/caller.ts';
import { changesTo } from '../../shared/changes.ts';
import { type GivenUp, giveUpObject, removeGivenUp } from './abandon-upload.ts';
import { Document } from './document.entity.ts';
import { type DocumentType, mayChangeDocument, type ProductType, placeOfUrl, type Visibility } from './document.ts';
import { sealFileName } from './file-name.ts';
import { getOwnDocument } from './find-documents.ts';
import { requireCategory } from './keep-category.ts';
import { type ProductOwners, requireProduct } from './require-product.ts';
import { guardStoredBytes } from './stored-bytes.ts';
import { getOwnObject, hashOfUrl, lockObject, lockOwnObject, openUrl } from './stored-url.ts';

export interface UpdateDocumentInput {
  caller: Caller;
  requestId: string;
  documentId: string;
  changes: {
    url?: string | undefined;
    document_type?: DocumentType | undefined;
    visibility?: Visibility | undefined;
    /** Null clears these. */
    product_type?: ProductType | null | undefined;
    product_id?: string | null | undefined;
    category_id?: string | null | undefined;
  };
  /** Maximum total bytes of a user's documents. */
  maximumStoredBytes: number;
}

/**
 * Changes a document. Checks a new `url` as `registerDocument` does and a new product or category as `storeDocument`
 * does, and throws as they do; abandons the previous object as `deleteDocument` does. Throws NOT_FOUND for a document
 * that the caller may not change.
 */
export async function updateDocument(
  em: EntityManager,
  { storage, sealer, productOwners }: { storage: Storage; sealer: Sealer; productOwners: ProductOwners },
  { caller, requestId, documentId, changes: { url, ...rest }, maximumStoredBytes }: UpdateDocumentInput,
): Promise<Document> {
  if (url !== undefined) await requireObject(em, { storage, sealer }, { caller, documentId, url });
  let givenUp: GivenUp | undefined;
  const updated = await em.transactional(async (tx) => {
    if (url !== undefined) await lockTwins(tx, documentId);
    const document = await getOwnDocument(tx, caller, documentId);
    const changes = changesTo<typeof rest>(document, rest);
    const changed = Object.keys(changes);
    tx.assign(document, changes);
    await requireCategory(tx, rest.category_id);
    // An unchanged product is not checked: it may belong to the creator and not to the caller.
    if (changes.product_id !== undefined || changes.product_type !== undefined) {
      const { product_type: productType = null, product_id: productId = null } = document;
      await requireProduct(tx, { productOwners, caller }, { productType, productId });
    }
    const carried = await openUrl(sealer, document);
    if (url !== undefined && url !== carried) {
      // Lock both objects, in order: a document created concurrently from the old one must be marked as a scan below.
      for (const key of [carried, url].toSorted()) await lockObject(tx, key);
      const { fileName, contentType, sizeBytes, sha256 } = await lockOwnObject(tx, { storage, sealer }, caller, url);
      const sealed = { url_sealed: await sealer.seal(placeOfUrl(documentId), url), url_hash: hashOfUrl(url) };
      await guardStoredBytes(tx, {
        userId: document.created_by,
        sizeBytes,
        maximumBytes: maximumStoredBytes,
        field: 'url',
        urlHash: sealed.url_hash,
        documentId,
      });
      // The old object remains a scan: mark every other document that uses it.
      if (document.identity_scan) {
        await tx.nativeUpdate(Document, { url_hash: hashOfUrl(carried), deleted_at: null }, { identity_scan: true });
      }
      givenUp = await giveUpObject(tx, sealer, document);
      const file_name_sealed = await sealFileName(tx, sealer, document, fileName);
      tx.assign(document, { ...sealed, file_name_sealed, content_type: contentType, size_bytes: sizeBytes, sha256 });
      changed.push('url');
    }
    if (changed.length === 0) return document;
    tx.assign(document, { updated_by: caller.userId, updated_at: await readDatabaseClock(tx) });
    await tx.flush();
    await recordAction(tx, { caller, requestId }, 'RESOURCE_UPDATED', ['document', documentId], { changed });
    return document;
  });
  if (givenUp !== undefined) await removeGivenUp(em, { storage, sealer }, givenUp);
  return updated;
}

/** Throws for a new `url` as `registerDocument` does. Accepts the document's current `url` from anyone. */
async function requireObject(
  em: EntityManager,
  { storage, sealer }: { storage: Storage; sealer: Sealer },
  { caller, documentId, url }: { caller: Caller; documentId: string; url: string },
): Promise<void> {
  const document = await em.findOne(Document, { id: documentId, deleted_at: null });
  if (document && mayChangeDocument(caller, document) && (await openUrl(sealer, document)) === url) return;
  await getOwnObject(storage, caller, url);
}

/**
 * Locks every document that shares a scan's file, in id order, so that two concurrent changes, each of which marks the
 * others, do not deadlock.
 */
async function lockTwins(tx: EntityManager, documentId: string): Promise<void> {
  await tx.execute(
    `select from documents where deleted_at is null
       and url_hash = (select url_hash from documents where id = ? and identity_scan) order by id for update`,
    [documentId],
  );
}
