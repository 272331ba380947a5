import { defineEntity, p } from '@mikro-orm/core';
import type { OfficialDocumentKind, VerificationStatus } from './official-document.ts';

const OfficialDocumentSchema = defineEntity({
  name: 'OfficialDocument',
  tableName: 'official_documents',
  properties: {
    id: p.bigint('string').primary(),
    user_id: p.uuid(),
    organization_id: p.uuid().nullable(),
    kind: p.text().$type<OfficialDocumentKind>(),
    details_sealed: p.text(),
    issued_on: p.date().nullable(),
    expires_on: p.date().nullable(),
    document_id: p.uuid().nullable(),
    verification_status: p.text().$type<VerificationStatus>(),
    created_at: p.datetime().defaultRaw('now()'),
    updated_at: p.datetime().defaultRaw('now()'),
  },
});

/** An identity document; its number and the name on it are one sealed JSON object (`OfficialDetails`). */
export class OfficialDocument extends OfficialDocumentSchema.class {}
OfficialDocumentSchema.setClass(OfficialDocument);
