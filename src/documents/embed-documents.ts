import type { EntityManager } from '@mikro-orm/postgresql';
import type { Caller } from '../identity/caller.ts';
import { Document } from './document.entity.ts';
import type { ProductType } from './document.ts';
import { visibleTo } from './find-documents.ts';
import { type DocumentView, type PresentedDocument, presentDocument } from './present-document.ts';

/** A parent shows this many of its documents, the newest; all of them are in `GET /v1/documents`. */
const embeddedPerParent = 100;

/**
 * The documents of parent rows that the caller sees, newest first, by parent id (every asked id is in the answer): a
 * parent embeds them in its detail. For details, so a few ids at a time.
 */
export async function embedDocuments(
  em: EntityManager,
  { caller, deps }: { caller: Caller; deps: DocumentView },
  productType: ProductType,
  productIds: readonly string[],
): Promise<Map<string, PresentedDocument[]>> {
  const embedded = productIds.map(async (productId): Promise<[string, PresentedDocument[]]> => {
    const rows = await em.find(
      Document,
      { $and: [{ product_type: productType, product_id: productId }, visibleTo(caller)] },
      { orderBy: { created_at: 'desc', id: 'desc' }, limit: embeddedPerParent },
    );
    return [productId, await Promise.all(rows.map((row) => presentDocument(row, deps)))];
  });
  return new Map(await Promise.all(embedded));
}
