import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import type { Caller } from '../../shared/caller.ts';
import { giveUpObject, removeGivenUp } from './abandon-upload.ts';
import { getOwnDocument } from './find-documents.ts';

/**
 * Soft-deletes a document and, if no other document uses its object, removes the object permanently: after the commit,
 * or in the sweep if storage is down. Throws NOT_FOUND.
 */
export async function deleteDocument(
  em: EntityManager,
  { storage, sealer }: { storage: Storage; sealer: Sealer },
  { caller, requestId, documentId }: { caller: Caller; requestId: string; documentId: string },
): Promise<void> {
  const givenUp = await em.transactional(async (tx) => {
    const document = await getOwnDocument(tx, caller, documentId);
    tx.assign(document, { deleted_at: await readDatabaseClock(tx), deleted_by: caller.userId });
    await tx.flush();
    await recordAction(tx, { caller, requestId }, 'RESOURCE_DELETED', ['document', documentId]);
    return giveUpObject(tx, sealer, document);
  });
  await removeGivenUp(em, { storage, sealer }, givenUp);
}
