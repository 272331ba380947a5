import { defineEntity, p } from '@mikro-orm/core';

const DocumentCategorySchema = defineEntity({
  name: 'DocumentCategory',
  tableName: 'document_categories',
  properties: {
    id: p.uuid().primary(),
    name: p.string().length(100),
    created_at: p.datetime().defaultRaw('now()'),
    updated_at: p.datetime().defaultRaw('now()'),
  },
});

/** A category under which the platform files documents. */
export class DocumentCategory extends DocumentCategorySchema.class {}
DocumentCategorySchema.setClass(DocumentCategory);
