import { defineEntity, p } from '@mikro-orm/core';
import type { DocumentType, ProductType, Visibility } from './document.ts';

const DocumentSchema = defineEntity({
  name: 'Document',
  tableName: 'documents',
  properties: {
    id: p.uuid().primary(),
    url_sealed: p.text(),
    url_hash: p.text(),
    document_type: p.text().$type<DocumentType>(),
    product_type: p.text().$type<ProductType>().nullable(),
    product_id: p.uuid().nullable(),
    visibility: p.text().$type<Visibility>(),
    category_id: p.uuid().nullable(),
    organization_id: p.uuid().nullable(),
    file_name_sealed: p.text().nullable(),
    content_type: p.text(),
    size_bytes: p.bigint('number'),
    sha256: p.text().nullable(),
    identity_scan: p.boolean().default(false),
    created_by: p.uuid(),
    updated_by: p.uuid().nullable(),
    created_at: p.datetime().defaultRaw('now()'),
    updated_at: p.datetime().defaultRaw('now()'),
    deleted_at: p.datetime().nullable(),
    deleted_by: p.uuid().nullable(),
  },
});

/** A document, usually attached to a product's row. Its object is in storage; the storage key is sealed. */
export class Document extends DocumentSchema.class {}
DocumentSchema.setClass(Document);
