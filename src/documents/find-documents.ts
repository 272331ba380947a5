import { LockMode } from '@mikro-orm/core';
import type { EntityManager, FilterQuery } from '@mikro-orm/postgresql';
import { findPage, type ListWindow } from '../find-page.ts';
import type { Caller } from '../identity/caller.ts';
import { refuse } from '../shared/errors.ts';
import { Document } from './document.entity.ts';
import { type DocumentType, mayChangeDocument, maySeeDocument } from './document.ts';

/** The documents that the caller sees, as a condition (the rule of `maySeeDocument`). */
export function visibleTo({ userType, userId, organizationId }: Caller): FilterQuery<Document> {
  if (userType === 'platform') return { deleted_at: null };
  const own: FilterQuery<Document>[] = [{ visibility: 'public' }, { created_by: userId }];
  if (organizationId !== null) own.push({ organization_id: organizationId });
  return { deleted_at: null, $or: own };
}

/** A page of the documents that the caller sees, newest first unless asked otherwise. */
export function listDocuments(
  em: EntityManager,
  caller: Caller,
  { documentType, ...window }: ListWindow & { documentType?: DocumentType },
): Promise<{ items: Document[]; total: number }> {
  const type: FilterQuery<Document> = documentType === undefined ? {} : { document_type: documentType };
  return findPage(em, Document, { $and: [visibleTo(caller), type] }, window);
}

const missing = (): never => refuse('NOT_FOUND', 'id: no such document');

/** One document. Another's private one and a missing one look the same (NOT_FOUND). */
export async function getDocument(em: EntityManager, caller: Caller, id: string): Promise<Document> {
  const document = await em.findOne(Document, { id, deleted_at: null });
  return document !== null && maySeeDocument(caller, document) ? document : missing();
}

/** One document, locked to be changed. One that the caller may not change looks like a missing one (NOT_FOUND). */
export async function getOwnDocument(tx: EntityManager, caller: Caller, id: string): Promise<Document> {
  const document = await tx.findOne(
    Document,
    { id, deleted_at: null },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );
  return document !== null && mayChangeDocument(caller, document) ? document : missing();
}

/** A public document that is not deleted, or NOT_FOUND. */
export async function getPublicDocument(em: EntityManager, id: string): Promise<Document> {
  return (await em.findOne(Document, { id, deleted_at: null, visibility: 'public' })) ?? missing();
}
