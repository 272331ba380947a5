import { LockMode, raw } from '@mikro-orm/core';
import type { EntityManager, FilterQuery } from '@mikro-orm/postgresql';
import { findPage, type ListWindow } from '../../platform/database/find-page.ts';
import type { Listed } from '../../platform/database/position.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { Document } from './document.entity.ts';
import { type DocumentType, mayChangeDocument, type ProductType } from './document.ts';

/**
 * Excludes scans of other users' identity documents: documents to which an official document refers or referred, and
 * all with the same file. Excludes every scan if `userId` is null (an anonymous reader).
 */
const isNoScan = (userId: string | null): FilterQuery<Document> => {
  const condition = raw(
    // `offset 0` makes the database look up each document in the index instead of reading all scans first.
    (alias) => `not (${alias}.identity_scan and ${alias}.created_by is distinct from ?::uuid)
      and not exists (select from documents scan where scan.identity_scan and scan.url_hash = ${alias}.url_hash
        and scan.created_by is distinct from ?::uuid offset 0)`,
    [userId, userId],
  );
  return { [condition]: [] } as FilterQuery<Document>;
};

/**
 * Returns the condition for the documents that the caller may see: platform all; others their own, public ones and
 * their organization's. They see scans only of their own identity documents and, as users of type `organization`, of
 * the organization's.
 */
export function visibleTo({ userType, userId, organizationId }: Caller): FilterQuery<Document> {
  if (userType === 'platform') return { deleted_at: null };
  const ofOrganization: FilterQuery<Document>[] = organizationId === null ? [] : [{ organization_id: organizationId }];
  const always: FilterQuery<Document>[] = [{ created_by: userId }];
  if (userType === 'organization') always.push(...ofOrganization);
  const unlessScan = { $and: [{ $or: [{ visibility: 'public' }, ...ofOrganization] }, isNoScan(userId)] };
  return { deleted_at: null, $or: [...always, unlessScan] } as FilterQuery<Document>;
}

/** Returns a page of the documents that the caller may see, newest first by default. */
export function listDocuments(
  em: EntityManager,
  caller: Caller,
  { filter, ...window }: ListWindow & { filter: DocumentFilter },
): Promise<Listed & { items: Document[] }> {
  const asked = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
  const within = visibleTo(caller);
  return findPage(em, Document, { $and: [within, asked as FilterQuery<Document>] }, window, { within });
}

/** Filters of a list of documents; absent ones do not apply. */
export interface DocumentFilter {
  document_type?: DocumentType;
  category_id?: string | undefined;
  product_type?: ProductType | undefined;
  product_id?: string | undefined;
}

const missing = (): never => refuse('NOT_FOUND', 'the document was not found', { field: 'id' });

/** Reads a document. Throws NOT_FOUND when it is missing or the caller may not see it. */
export async function getDocument(em: EntityManager, caller: Caller, id: string): Promise<Document> {
  return (await em.findOne(Document, { $and: [{ id }, visibleTo(caller)] })) ?? missing();
}

/** Locks a document for a change. Throws NOT_FOUND when it is missing or the caller may not change it. */
export async function getOwnDocument(tx: EntityManager, caller: Caller, id: string): Promise<Document> {
  const document = await tx.findOne(
    Document,
    { id, deleted_at: null },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );
  return document !== null && mayChangeDocument(caller, document) ? document : missing();
}

/** Returns a public document. Throws NOT_FOUND for one that is missing, deleted or the scan of an identity document. */
export async function getPublicDocument(em: EntityManager, id: string): Promise<Document> {
  const where = { $and: [{ id, deleted_at: null, visibility: 'public' }, isNoScan(null)] } as FilterQuery<Document>;
  return (await em.findOne(Document, where)) ?? missing();
}
