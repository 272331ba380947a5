import type { EntityManager, FilterQuery } from '@mikro-orm/postgresql';
import type { Caller } from '../identity/caller.ts';
import { Document } from './document.entity.ts';
import type { ProductType } from './document.ts';
import { visibleTo } from './find-documents.ts';
import { type DocumentView, type PresentedDocument, presentDocument } from './present-document.ts';

/** A parent shows this many of its documents, the newest; all of them are in `GET /v1/documents`. */
const embeddedPerParent = 100;

/** What a parent's detail shows of its documents. */
export interface EmbeddedDocuments {
  documents: PresentedDocument[];
  /** How many the caller sees of it altogether. */
  documents_total: number;
}

/** The documents of a parent row that the caller sees, newest first, as its detail embeds them. */
export async function embedDocuments(
  em: EntityManager,
  { caller, deps }: { caller: Caller; deps: DocumentView },
  productType: ProductType,
  productId: string,
): Promise<EmbeddedDocuments> {
  const where: FilterQuery<Document> = {
    $and: [{ product_type: productType, product_id: productId }, visibleTo(caller)],
  };
  const [rows, total] = await em.findAndCount(Document, where, {
    orderBy: { created_at: 'desc', id: 'desc' },
    limit: embeddedPerParent,
  });
  return { documents: await Promise.all(rows.map((row) => presentDocument(row, deps))), documents_total: total };
}
