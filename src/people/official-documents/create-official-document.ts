import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { Document } from '../documents/document.entity.ts';
import type { OpenedOfficialDocument } from './find-official-documents.ts';
import { OfficialDocument } from './official-document.entity.ts';
import { type OfficialDetails, type OfficialDocumentKind, placeToSeal } from './official-document.ts';

export interface CreateOfficialDocumentInput {
  caller: Caller;
  requestId: string;
  kind: OfficialDocumentKind;
  details: OfficialDetails;
  /** `YYYY-MM-DD`. */
  issuedOn: string | null;
  expiresOn: string | null;
  documentId: string | null;
}

/**
 * Permanently marks the user's document, if any is named, as a scan of an identity document. Throws 400 if the user has
 * no such document.
 */
export async function takeScan(tx: EntityManager, userId: string, documentId: string | null): Promise<void> {
  if (documentId === null) return;
  const own = { id: documentId, created_by: userId, deleted_at: null };
  const taken = await tx.nativeUpdate(Document, own, { identity_scan: true });
  if (taken === 0)
    refuse('REQUEST_INVALID', 'the owner of the official document has no document with this id', {
      field: 'document_id',
    });
}

/** Creates a `pending` official document for the caller. */
export async function createOfficialDocument(
  em: EntityManager,
  sealer: Sealer,
  { caller, requestId, kind, details, issuedOn, expiresOn, documentId }: CreateOfficialDocumentInput,
): Promise<OpenedOfficialDocument> {
  const row = await em.transactional(async (tx) => {
    await takeScan(tx, caller.userId, documentId);
    const [next] = await tx.execute<[{ id: string }]>("select nextval('official_document_ids')::text as id");
    const { id } = next;
    const created = tx.create(OfficialDocument, {
      id,
      user_id: caller.userId,
      organization_id: caller.organizationId,
      kind,
      details_sealed: await sealer.seal(placeToSeal(id, caller.userId), JSON.stringify(details)),
      issued_on: issuedOn,
      expires_on: expiresOn,
      document_id: documentId,
      verification_status: 'pending',
    });
    await tx.flush();
    await recordAction(tx, { caller, requestId }, 'RESOURCE_CREATED', ['official_document', id], { kind });
    return created;
  });
  return { row, details };
}
