import type { Readable } from 'node:stream';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import type { Storage, StoredObject } from '../../platform/storage/storage.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { newId } from '../../shared/ids.ts';
import { abandonUpload, placeOfUpload } from './abandon-upload.ts';
import { Document } from './document.entity.ts';
import { type DocumentType, newStorageKey, type ProductType, placeOfUrl, type Visibility } from './document.ts';
import { sealFileName } from './file-name.ts';
import { requireCategory } from './keep-category.ts';
import { type ProductOwners, requireProduct } from './require-product.ts';
import { guardStoredBytes, refuseBeyondStoredBytes } from './stored-bytes.ts';
import { hashOfUrl } from './stored-url.ts';

export interface StoreDocumentInput {
  caller: Caller;
  requestId: string;
  documentType: DocumentType;
  productType: ProductType;
  productId: string;
  visibility: Visibility;
  categoryId: string | null;
  /** Maximum total bytes of a user's documents. */
  maximumStoredBytes: number;
  object: StoredObject;
  /** The client's name for the file. */
  fileName: string | null;
  /** Opens the bytes from their beginning. */
  open: () => Readable;
}

/**
 * Stores a file and its document, both or neither, even across a crash: first the upload's row, then the object, then
 * one transaction that replaces the upload with the document. If that does not commit, this function or the sweep
 * removes what was uploaded. Throws 400 for a product that is not the caller's or beyond the user's limit of stored
 * bytes, 503 if storage is down.
 */
export async function storeDocument(
  em: EntityManager,
  { storage, sealer, productOwners }: { storage: Storage; sealer: Sealer; productOwners: ProductOwners },
  input: StoreDocumentInput,
): Promise<Document> {
  const { caller, productType, productId, object } = input;
  await requireProduct(em, { productOwners, caller }, { productType, productId });
  await requireCategory(em, input.categoryId);
  await refuseBeyondStoredBytes(em, additionOf(input));
  const id = newId();
  const key = newStorageKey(caller);
  await em.execute('insert into document_uploads (id, user_id, url_sealed) values (?, ?, ?)', [
    id,
    caller.userId,
    await sealer.seal(placeOfUpload(id), key),
  ]);
  let outcomeIsKnown = true;
  try {
    await failpoint('store-document.before-put');
    outcomeIsKnown = false;
    await storage.put(key, object, input.open());
    outcomeIsKnown = true;
    await failpoint('store-document.after-put');
    const urlSealed = await sealer.seal(placeOfUrl(id), key);
    const fileNameSealed = await sealFileName(em, sealer, { id, created_by: caller.userId }, input.fileName);
    const document = await tradeForDocument(em, { ...input, id, urlSealed, urlHash: hashOfUrl(key), fileNameSealed });
    if (document !== null) return document;
    // The sweep has removed the upload, perhaps before the object was stored.
    await storage.remove(key);
    refuse('SERVICE_UNAVAILABLE', 'The upload took too long; try again', { retryAfterSeconds: 1 });
  } catch (error) {
    // After a failed put, which may still take effect, only the sweep removes the row.
    const cleaning = outcomeIsKnown ? abandonUpload(em.fork(), { storage, sealer }, id) : storage.remove(key);
    await cleaning.catch(() => {});
    throw error;
  }
}

const additionOf = ({
  caller,
  object,
  maximumStoredBytes,
}: Pick<StoreDocumentInput, 'caller' | 'object' | 'maximumStoredBytes'>) => ({
  userId: caller.userId,
  sizeBytes: object.sizeBytes,
  maximumBytes: maximumStoredBytes,
  field: 'file' as const,
});

/** Replaces the upload with a document. Returns null if the upload no longer exists. */
async function tradeForDocument(
  em: EntityManager,
  {
    id,
    urlSealed,
    urlHash,
    fileNameSealed,
    caller,
    requestId,
    object,
    ...input
  }: StoreDocumentInput & { id: string; urlSealed: string; urlHash: string; fileNameSealed: string | null },
): Promise<Document | null> {
  const stored = await em.transactional(async (tx) => {
    const mine = await tx.execute<unknown[]>('delete from document_uploads where id = ? returning 1', [id]);
    if (mine.length === 0) return null;
    await guardStoredBytes(tx, additionOf({ caller, object, ...input }));
    const document = tx.create(Document, {
      id,
      url_sealed: urlSealed,
      url_hash: urlHash,
      document_type: input.documentType,
      product_type: input.productType,
      product_id: input.productId,
      visibility: input.visibility,
      category_id: input.categoryId,
      organization_id: caller.organizationId,
      file_name_sealed: fileNameSealed,
      content_type: object.contentType,
      size_bytes: object.sizeBytes,
      sha256: object.sha256,
      created_by: caller.userId,
    });
    await tx.flush();
    await recordAction(tx, { caller, requestId }, 'RESOURCE_CREATED', ['document', id], {
      document_type: input.documentType,
      product_type: input.productType,
      product_id: input.productId,
    });
    await failpoint('store-document.before-commit');
    return document;
  });
  await failpoint('store-document.after-commit');
  return stored;
}
