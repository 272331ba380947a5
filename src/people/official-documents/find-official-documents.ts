import { LockMode } from '@mikro-orm/core';
import type { EntityManager, FilterQuery } from '@mikro-orm/postgresql';
import { findPage, type ListWindow } from '../../platform/database/find-page.ts';
import type { Listed } from '../../platform/database/position.ts';
import { unlessErased, unlessMissing } from '../../platform/encryption/personal-keys.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordReadOfOthers } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { OfficialDocument } from './official-document.entity.ts';
import { mayUseOfficialDocument, type OfficialDetails, placeOfDetails } from './official-document.ts';

export interface OpenedOfficialDocument {
  row: OfficialDocument;
  details: OfficialDetails;
}

/** Returns the row with its details decrypted, or null once its owner is erased. */
async function unsealDocument(sealer: Sealer, row: OfficialDocument): Promise<OpenedOfficialDocument | null> {
  const details = await unlessErased(sealer.open(placeOfDetails(row.id), row.details_sealed));
  return details === null ? null : { row, details: JSON.parse(details) };
}

/** Returns the row with its details decrypted. Throws NOT_FOUND once its owner is erased. */
export async function openOfficialDocument(sealer: Sealer, row: OfficialDocument): Promise<OpenedOfficialDocument> {
  return (await unsealDocument(sealer, row)) ?? missing();
}

const missing = (): never => refuse('NOT_FOUND', 'the official document was not found', { field: 'id' });

/**
 * Reads an official document. Throws NOT_FOUND when it is missing or someone else's. A read by the platform is recorded
 * as an event.
 */
export async function getOfficialDocument(
  em: EntityManager,
  sealer: Sealer,
  { caller, id, requestId }: { caller: Caller; id: string; requestId: string },
): Promise<OpenedOfficialDocument> {
  const row = await em.findOne(OfficialDocument, { id });
  if (row === null || !mayUseOfficialDocument(caller, row)) return missing();
  const read = { resourceType: 'official_document', resourceId: id, ownerId: row.user_id, requestId };
  await recordReadOfOthers(em, caller, read);
  return openOfficialDocument(sealer, row);
}

/** Locks an official document for a change. Throws as `getOfficialDocument` does. */
export async function lockOfficialDocument(tx: EntityManager, caller: Caller, id: string): Promise<OfficialDocument> {
  const row = await tx.findOne(OfficialDocument, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  return row !== null && mayUseOfficialDocument(caller, row) ? row : missing();
}

/** Returns the condition for the rows that the caller may use (see `mayUseOfficialDocument`). */
function usableBy({ userType, userId, organizationId }: Caller): FilterQuery<OfficialDocument> {
  if (userType === 'platform') return {};
  if (userType === 'organization' && organizationId !== null) {
    return { $or: [{ user_id: userId }, { organization_id: organizationId }] };
  }
  return { user_id: userId };
}

/**
 * Returns a page of the official documents that the caller may use, newest first by default. Records a read by the
 * platform as an event. Omits others' documents whose key is missing; throws KeysAway if the caller's own key is
 * missing.
 */
export async function listOfficialDocuments(
  em: EntityManager,
  sealer: Sealer,
  { caller, requestId, ...window }: ListWindow & { caller: Caller; requestId: string },
): Promise<Listed & { documents: OpenedOfficialDocument[] }> {
  const { items, ...listed } = await findPage(em, OfficialDocument, usableBy(caller), window);
  await recordReadOfOthers(em, caller, {
    resourceType: 'official_document',
    resourceId: null,
    ownerId: null,
    requestId,
  });
  const openOwnOrOthers = (row: OfficialDocument) =>
    row.user_id === caller.userId ? unsealDocument(sealer, row) : unlessMissing(unsealDocument(sealer, row));
  const opened = await Promise.all(items.map(openOwnOrOthers));
  return { documents: opened.filter((document) => document !== null), ...listed };
}
