import type { EntityManager } from '@mikro-orm/postgresql';
import { recordAction } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { lockOfficialDocument } from './find-official-documents.ts';

/** Permanently deletes an official document, because identity numbers are not stored without need. Throws NOT_FOUND. */
export async function deleteOfficialDocument(
  em: EntityManager,
  { caller, requestId, id }: { caller: Caller; requestId: string; id: string },
): Promise<void> {
  await em.transactional(async (tx) => {
    tx.remove(await lockOfficialDocument(tx, caller, id));
    await tx.flush();
    await recordAction(tx, { caller, requestId }, 'RESOURCE_DELETED', ['official_document', id]);
  });
}
