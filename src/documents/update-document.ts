import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../encryption/sealer.ts';
import { recordEvent } from '../events/record-event.ts';
import type { Caller } from '../identity/caller.ts';
import { changesTo } from '../shared/changes.ts';
import type { Storage } from '../storage/storage.ts';
import type { Document } from './document.entity.ts';
import { type DocumentType, type ProductType, placeOfUrl } from './document.ts';
import { getOwnDocument } from './find-documents.ts';
import { requireProduct } from './product-owners.ts';
import { getOwnObject, openUrl } from './stored-url.ts';

export interface UpdateDocumentInput {
  caller: Caller;
  requestId: string;
  documentId: string;
  changes: {
    url?: string | undefined;
    document_type?: DocumentType | undefined;
    product_type?: ProductType | undefined;
    product_id?: string | undefined;
  };
}

/**
 * Changes a document. A new `url` is checked as at registration, a new product as at upload; refuses as they do, and
 * with NOT_FOUND a document that the caller may not change.
 */
export async function updateDocument(
  em: EntityManager,
  { storage, sealer }: { storage: Storage; sealer: Sealer },
  { caller, requestId, documentId, changes: { url, ...rest } }: UpdateDocumentInput,
): Promise<Document> {
  return em.transactional(async (tx) => {
    const document = await getOwnDocument(tx, caller, documentId);
    const changes = changesTo<typeof rest>(document, rest);
    const changed = Object.keys(changes);
    tx.assign(document, changes);
    if (rest.product_id !== undefined || rest.product_type !== undefined) {
      const { product_type: productType = null, product_id: productId = null } = document;
      await requireProduct(tx, caller, { productType, productId });
    }
    if (url !== undefined && url !== (await openUrl(sealer, document))) {
      const { contentType, sizeBytes, sha256 } = await getOwnObject(storage, caller, url);
      const urlSealed = await sealer.seal(placeOfUrl(documentId), url);
      tx.assign(document, { url_sealed: urlSealed, content_type: contentType, size_bytes: sizeBytes, sha256 });
      changed.push('url');
    }
    if (changed.length === 0) return document;
    tx.assign(document, { updated_by: caller.userId, updated_at: new Date() });
    await tx.flush();
    await recordEvent(tx, {
      event: 'RESOURCE_UPDATED',
      resourceType: 'document',
      resourceId: documentId,
      actorId: caller.userId,
      requestId,
      data: { changed },
    });
    return document;
  });
}
