import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import type { Caller } from '../../shared/caller.ts';
import { newId } from '../../shared/ids.ts';
import { Document } from './document.entity.ts';
import { type DocumentType, type ProductType, placeOfUrl, type Visibility } from './document.ts';
import { sealFileName } from './file-name.ts';
import { requireCategory } from './keep-category.ts';
import { type ProductOwners, requireProduct } from './require-product.ts';
import { guardStoredBytes } from './stored-bytes.ts';
import { getOwnObject, hashOfUrl, lockOwnObject } from './stored-url.ts';

export interface RegisterDocumentInput {
  caller: Caller;
  requestId: string;
  /** A storage key. */
  url: string;
  documentType: DocumentType;
  productType: ProductType | null;
  productId: string | null;
  visibility: Visibility;
  categoryId: string | null;
  /** Maximum total bytes of a user's documents. */
  maximumStoredBytes: number;
}

/**
 * Creates a document for an object already in storage; several documents may share one object. Throws as `getOwnObject`
 * and `lockOwnObject` do, and 400 for a product that is not the caller's or beyond the user's limit of stored bytes.
 */
export async function registerDocument(
  em: EntityManager,
  { storage, sealer, productOwners }: { storage: Storage; sealer: Sealer; productOwners: ProductOwners },
  {
    caller,
    requestId,
    url,
    documentType,
    productType,
    productId,
    visibility,
    categoryId,
    ...input
  }: RegisterDocumentInput,
): Promise<Document> {
  await requireProduct(em, { productOwners, caller }, { productType, productId });
  await requireCategory(em, categoryId);
  await getOwnObject(storage, caller, url);
  const id = newId();
  const urlSealed = await sealer.seal(placeOfUrl(id), url);
  return em.transactional(async (tx) => {
    const object = await lockOwnObject(tx, { storage, sealer }, caller, url);
    const urlHash = hashOfUrl(url);
    const owner = { created_by: caller.userId, organization_id: caller.organizationId };
    await guardStoredBytes(tx, {
      userId: caller.userId,
      sizeBytes: object.sizeBytes,
      maximumBytes: input.maximumStoredBytes,
      field: 'url',
      urlHash,
    });
    const document = tx.create(Document, {
      id,
      url_sealed: urlSealed,
      url_hash: urlHash,
      document_type: documentType,
      product_type: productType,
      product_id: productId,
      visibility,
      category_id: categoryId,
      file_name_sealed: await sealFileName(tx, sealer, { id, ...owner }, object.fileName),
      content_type: object.contentType,
      size_bytes: object.sizeBytes,
      sha256: object.sha256,
      ...owner,
    });
    await tx.flush();
    await recordAction(tx, { caller, requestId }, 'RESOURCE_CREATED', ['document', id], {
      document_type: documentType,
      product_type: productType,
      product_id: productId,
    });
    return document;
  });
}
