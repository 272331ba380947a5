import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '../events/record-event.ts';
import type { Caller } from '../identity/caller.ts';
import { getOwnDocument } from './find-documents.ts';

/** Deletes a document softly; its object stays, for other documents may carry it. Refuses with NOT_FOUND. */
export async function deleteDocument(
  em: EntityManager,
  { caller, requestId, documentId }: { caller: Caller; requestId: string; documentId: string },
): Promise<void> {
  await em.transactional(async (tx) => {
    const document = await getOwnDocument(tx, caller, documentId);
    tx.assign(document, { deleted_at: new Date(), deleted_by: caller.userId });
    await tx.flush();
    await recordEvent(tx, {
      event: 'RESOURCE_DELETED',
      impact: 'HIGH',
      resourceType: 'document',
      resourceId: documentId,
      actorId: caller.userId,
      requestId,
    });
  });
}
