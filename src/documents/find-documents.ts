import { LockMode, raw } from '@mikro-orm/core';
import type { EntityManager, FilterQuery } from '@mikro-orm/postgresql';
import { findPage, type ListWindow } from '../database/find-page.ts';
import type { Caller } from '../identity/caller.ts';
import { refuse } from '../shared/errors.ts';
import { Document } from './document.entity.ts';
import { type DocumentType, mayChangeDocument, type ProductType } from './document.ts';

/**
 * No scan of another's identity document: none that an official document names or has named, and none that carries the
 * same file. For somebody who is not known, `userId` is null, every scan is another's.
 */
const isNoScan = (userId: string | null): FilterQuery<Document> => {
  const condition = raw(
    // With an offset the database looks for each document by the index, and does not read all scans first.
    (alias) => `not (${alias}.identity_scan and ${alias}.created_by is distinct from ?::uuid)
      and not exists (select from documents scan where scan.identity_scan and scan.url_hash = ${alias}.url_hash
        and scan.created_by is distinct from ?::uuid offset 0)`,
    [userId, userId],
  );
  return { [condition]: [] } as FilterQuery<Document>;
};

/**
 * The documents that the caller sees, as a condition: the platform all, others their own, public ones, and those of
 * their organization's users; of scans of identity documents only their own and, for users of type `organization`,
 * those of the organization.
 */
export function visibleTo({ userType, userId, organizationId }: Caller): FilterQuery<Document> {
  if (userType === 'platform') return { deleted_at: null };
  const ofOrganization: FilterQuery<Document>[] = organizationId === null ? [] : [{ organization_id: organizationId }];
  const always: FilterQuery<Document>[] = [{ created_by: userId }];
  if (userType === 'organization') always.push(...ofOrganization);
  const unlessScan = { $and: [{ $or: [{ visibility: 'public' }, ...ofOrganization] }, isNoScan(userId)] };
  return { deleted_at: null, $or: [...always, unlessScan] } as FilterQuery<Document>;
}

/** A page of the documents that the caller sees, newest first unless asked otherwise. */
export function listDocuments(
  em: EntityManager,
  caller: Caller,
  { filter, ...window }: ListWindow & { filter: DocumentFilter },
): Promise<{ items: Document[]; total: number }> {
  const asked = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
  return findPage(em, Document, { $and: [visibleTo(caller), asked as FilterQuery<Document>] }, window);
}

/** Which documents are asked for; what is absent asks for nothing. */
export interface DocumentFilter {
  document_type?: DocumentType;
  category_id?: string | undefined;
  product_type?: ProductType | undefined;
  product_id?: string | undefined;
}

const missing = (): never => refuse('NOT_FOUND', 'no such document', { field: 'id' });

/** One document. Another's private one and a missing one look the same (NOT_FOUND). */
export async function getDocument(em: EntityManager, caller: Caller, id: string): Promise<Document> {
  return (await em.findOne(Document, { $and: [{ id }, visibleTo(caller)] })) ?? missing();
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

/** A public document that is not deleted and no scan of an identity document, or NOT_FOUND. */
export async function getPublicDocument(em: EntityManager, id: string): Promise<Document> {
  const where = { $and: [{ id, deleted_at: null, visibility: 'public' }, isNoScan(null)] } as FilterQuery<Document>;
  return (await em.findOne(Document, where)) ?? missing();
}
