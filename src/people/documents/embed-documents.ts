import type { EntityManager, FilterQuery } from '@mikro-orm/postgresql';
import type { Caller } from '../../shared/caller.ts';
import { Document } from './document.entity.ts';
import type { ProductType } from './document.ts';
import { visibleTo } from './find-documents.ts';
import { type DocumentView, type PresentedDocument, presentDocument } from './present-document.ts';

/** Maximum documents, newest first, in a parent's detail; `GET /v1/documents` lists all. */
const embeddedPerParent = 100;

/** The documents in a parent's detail. */
export interface EmbeddedDocuments {
  documents: PresentedDocument[];
  /** The total number that the caller may see. */
  documents_total: number;
}

/** Returns the documents of a parent row that the caller may see, newest first, as embedded in its detail. */
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
