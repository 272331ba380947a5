import { z } from 'zod';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { timestamp } from '../../platform/http/fields.ts';
import type { Document } from './document.entity.ts';
import { documentTypes, productTypes, visibilities } from './document.ts';
import { showFileName } from './file-name.ts';
import { openUrl } from './stored-url.ts';

/** A document in responses (docs/contract.md 7), with the properties detected when it was stored. */
export const DocumentAnswer = z
  .object({
    id: z.guid(),
    url: z.string().meta({ description: 'The storage key.' }),
    document_type: z.enum(documentTypes),
    product_type: z.enum(productTypes).nullable(),
    product_id: z.guid().nullable(),
    visibility: z.enum(visibilities),
    category_id: z.guid().nullable(),
    public_url: z.string().nullable().meta({
      description: 'For a public document: needs no token; redirects to a new URL of the file.',
    }),
    file_name: z.string().nullable().meta({ description: 'The name as uploaded, without folders.' }),
    content_type: z.string().meta({ description: 'Detected from the content; for plain texts the declared one.' }),
    size_bytes: z.int(),
    sha256: z.string().nullable(),
    created_by: z.guid(),
    updated_by: z.guid().nullable(),
    created_at: timestamp(),
    updated_at: timestamp(),
    deleted_at: timestamp().nullable(),
    deleted_by: z.guid().nullable(),
  })
  .meta({ id: 'Document' });

/** The fields of a parent's detail that show its documents. */
export const embeddedDocumentsFields = {
  documents: z.array(DocumentAnswer).meta({ description: 'The newest hundred that the caller may see.' }),
  documents_total: z.int().meta({ description: '`GET /v1/documents` lists them all.' }),
};

/** The dependencies needed to present a document; a part of `Dependencies`. */
export interface DocumentView {
  sealer: Sealer;
  config: { PUBLIC_URL: string };
}

export type PresentedDocument = Awaited<ReturnType<typeof presentDocument>>;

/** Returns a document as the API shows it. */
export async function presentDocument(row: Document, { sealer, config }: DocumentView) {
  const path = `/v1/documents/${row.id}/public`;
  return {
    id: row.id,
    url: await openUrl(sealer, row),
    document_type: row.document_type,
    product_type: row.product_type ?? null,
    product_id: row.product_id ?? null,
    visibility: row.visibility,
    category_id: row.category_id ?? null,
    public_url: row.visibility === 'public' ? new URL(path, config.PUBLIC_URL).href : null,
    file_name: await showFileName(sealer, row),
    content_type: row.content_type,
    size_bytes: row.size_bytes,
    sha256: row.sha256 ?? null,
    created_by: row.created_by,
    updated_by: row.updated_by ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    deleted_at: row.deleted_at?.toISOString() ?? null,
    deleted_by: row.deleted_by ?? null,
  };
}
