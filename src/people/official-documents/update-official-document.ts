import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { type Changes, changesTo } from '../../shared/changes.ts';
import { refuse } from '../../shared/errors.ts';
import { takeScan } from './create-official-document.ts';
import { lockOfficialDocument, type OpenedOfficialDocument, openOfficialDocument } from './find-official-documents.ts';
import {
  type OfficialDetails,
  type OfficialDocumentKind,
  placeToSeal,
  type VerificationStatus,
} from './official-document.ts';
import { shownNumber } from './present-official-document.ts';

export interface UpdateOfficialDocumentInput {
  caller: Caller;
  requestId: string;
  id: string;
  details: Changes<OfficialDetails>;
  changes: Changes<{
    kind: OfficialDocumentKind;
    issued_on: string | null;
    expires_on: string | null;
    document_id: string | null;
    verification_status: VerificationStatus;
  }>;
}

/**
 * Changes an official document. Only platform users set `verification_status` (403); a change by others makes it
 * `pending` again. Throws NOT_FOUND if the caller may not use the document.
 */
export async function updateOfficialDocument(
  em: EntityManager,
  sealer: Sealer,
  { caller, requestId, id, ...input }: UpdateOfficialDocumentInput,
): Promise<OpenedOfficialDocument> {
  const isPlatform = caller.userType === 'platform';
  return em.transactional(async (tx) => {
    const row = await lockOfficialDocument(tx, caller, id);
    const opened = await openOfficialDocument(sealer, row);
    // A number returned as this caller sees it, possibly masked, is not a change.
    const isAsShown = input.details.number === shownNumber(caller, opened);
    const details = changesTo<OfficialDetails>(opened.details, {
      ...input.details,
      ...(isAsShown && { number: undefined }),
    });
    const changes = changesTo<typeof input.changes>(row, input.changes);
    if (changes.verification_status !== undefined && !isPlatform) {
      refuse('FORBIDDEN', 'only platform users set it', { field: 'verification_status' });
    }
    const changed = [...Object.keys(details), ...Object.keys(changes)];
    if (changed.length === 0) return opened;
    await takeScan(tx, row.user_id, changes.document_id ?? null);
    if (Object.keys(details).length > 0) {
      Object.assign(opened.details, details);
      row.details_sealed = await sealer.seal(placeToSeal(id, row.user_id), JSON.stringify(opened.details));
    }
    tx.assign(row, {
      ...(isPlatform ? {} : { verification_status: 'pending' }),
      ...changes,
      updated_at: await readDatabaseClock(tx),
    });
    requirePeriod(row.issued_on ?? null, row.expires_on ?? null);
    await tx.flush();
    await recordAction(tx, { caller, requestId }, 'RESOURCE_UPDATED', ['official_document', id], {
      changed,
      verification_status: row.verification_status,
    });
    return opened;
  });
}

/** Throws REQUEST_INVALID for a document that expires before it was issued. */
export function requirePeriod(issuedOn: string | null, expiresOn: string | null): void {
  if (issuedOn !== null && expiresOn !== null && expiresOn < issuedOn) {
    refuse('REQUEST_INVALID', 'must not be before issued_on', { field: 'expires_on' });
  }
}
