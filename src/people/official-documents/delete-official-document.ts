import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { lockOfficialDocument } from './find-official-documents.ts';

/** Deletes an official document for good: identity numbers are not kept without need. Throws NOT_FOUND. */
export async function deleteOfficialDocument(
  em: EntityManager,
  { caller, requestId, id }: { caller: Caller; requestId: string; id: string },
): Promise<void> {
  await em.transactional(async (tx) => {
    tx.remove(await lockOfficialDocument(tx, caller, id));
    await tx.flush();
    await recordEvent(tx, {
      event: 'RESOURCE_DELETED',
      impact: 'HIGH',
      resourceType: 'official_document',
      resourceId: id,
      actorId: caller.userId,
      requestId,
    });
  });
}
