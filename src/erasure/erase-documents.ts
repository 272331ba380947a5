import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../database/database-clock.ts';
import { type GivenUp, giveUpObject, removeGivenUp } from '../documents/abandon-upload.ts';
import { Document } from '../documents/document.entity.ts';
import { openUrl } from '../documents/stored-url.ts';
import type { Sealer } from '../encryption/sealer.ts';
import type { Storage } from '../storage/storage.ts';

/** Documents per transaction. */
const batch = 100;

/**
 * Deletes the documents that a person stored, and their objects: all but an organization's, of which its scans of
 * identity documents are the person's all the same. Safe to repeat. Throws SERVICE_UNAVAILABLE when the store is away.
 */
export async function eraseDocuments(
  em: EntityManager,
  ports: { storage: Storage; sealer: Sealer },
  userId: string,
): Promise<void> {
  await ports.storage.ping();
  for (;;) {
    const givenUp = await em.fork().transactional((tx) => giveUpSome(tx, ports.sealer, userId));
    for (const object of givenUp) await removeGivenUp(em, ports, object);
    if (givenUp.length < batch) return;
  }
}

async function giveUpSome(tx: EntityManager, sealer: Sealer, userId: string): Promise<GivenUp[]> {
  const theirs = { created_by: userId, deleted_at: null, $or: [{ organization_id: null }, { identity_scan: true }] };
  const documents = await tx.find(Document, theirs, { limit: batch, orderBy: { created_at: 'asc', id: 'asc' } });
  const now = await readDatabaseClock(tx);
  const givenUp: GivenUp[] = [];
  for (const document of documents) {
    tx.assign(document, { deleted_at: now, deleted_by: userId });
    givenUp.push(await giveUpObject(tx, sealer, await openUrl(sealer, document)));
  }
  await tx.flush();
  return givenUp;
}
