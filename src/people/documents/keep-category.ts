import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import { findPage, type ListWindow } from '../../platform/database/find-page.ts';
import { recordEvent } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { isUniqueViolation } from '../../shared/postgres.ts';
import { DocumentCategory } from './document-category.entity.ts';

interface Asking {
  caller: Caller;
  requestId: string;
  name: string;
}

/** Creates a category. Throws DUPLICATE if the name exists; case is ignored. */
export function createCategory(em: EntityManager, { caller, requestId, name }: Asking): Promise<DocumentCategory> {
  return refusingTwins(name, () =>
    em.transactional(async (tx) => {
      const category = tx.create(DocumentCategory, { id: newId(), name });
      await tx.flush();
      await record(tx, 'RESOURCE_CREATED', category.id, { caller, requestId });
      return category;
    }),
  );
}

/** Renames a category. Throws NOT_FOUND, and DUPLICATE as `createCategory` does. */
export function updateCategory(
  em: EntityManager,
  { caller, requestId, id, name }: Omit<Asking, 'name'> & { id: string; name: string | undefined },
): Promise<DocumentCategory> {
  return refusingTwins(name, () =>
    em.transactional(async (tx) => {
      const lockMode = LockMode.PESSIMISTIC_WRITE;
      const category = await tx.findOne(DocumentCategory, { id }, { lockMode, refresh: true });
      if (category === null) refuse('NOT_FOUND', 'the category was not found', { field: 'id' });
      if (name === undefined || name === category.name) return category;
      tx.assign(category, { name, updated_at: await readDatabaseClock(tx) });
      await tx.flush();
      await record(tx, 'RESOURCE_UPDATED', id, { caller, requestId });
      return category;
    }),
  );
}

/** Returns a page of all categories, newest first by default. */
export const listCategories = (em: EntityManager, window: ListWindow) => findPage(em, DocumentCategory, {}, window);

/** Throws REQUEST_INVALID for a category that does not exist. */
export async function requireCategory(em: EntityManager, id: string | null | undefined): Promise<void> {
  if (id && (await em.count(DocumentCategory, { id })) === 0) {
    refuse('REQUEST_INVALID', 'the category was not found', { field: 'category_id' });
  }
}

async function refusingTwins<T>(name: string | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isUniqueViolation(error))
      refuse('DUPLICATE', `a category named ${name} already exists`, { field: 'name', cause: error });
    throw error;
  }
}

function record(
  tx: EntityManager,
  event: string,
  id: string,
  { caller, requestId }: Pick<Asking, 'caller' | 'requestId'>,
): Promise<void> {
  const about = { resourceType: 'document_category', resourceId: id };
  return recordEvent(tx, { event, ...about, actorId: caller.userId, requestId });
}
