import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../database/database-clock.ts';
import { readIdsInParts } from '../database/read-ids.ts';
import { abandonUpload, giveUpObject, removeUncarried } from '../documents/abandon-upload.ts';
import { Document } from '../documents/document.entity.ts';
import { spaceOf } from '../documents/document.ts';
import { abandonedAfterMs } from '../documents/sweep-uploads.ts';
import type { Sealer } from '../encryption/sealer.ts';
import { failpoint } from '../shared/failpoint.ts';
import type { Storage } from '../storage/storage.ts';

interface Ports {
  storage: Storage;
  sealer: Sealer;
}

/** Documents per transaction. */
const batch = 100;

/**
 * Deletes the documents that a person stored, and their objects: all but an organization's, which are those that its own
 * users stored, and what an individual who belongs to it stored of its causes and of others' transactions on its accounts.
 * A scan of an identity document is the person's all the same. It ends only when the store has said of each object that it is gone,
 * also of those that the person's documents had given up before, and those in the person's space that no row knows, because
 * the database was restored to before their upload. Safe to repeat; the person's rows are empty, so nothing new comes. Throws as long as something is left: when the store is away or refuses, or an upload is under way.
 */
export async function eraseDocuments(em: EntityManager, ports: Ports, userId: string): Promise<void> {
  await ports.storage.ping();
  for (;;) {
    const givenUp = await em.fork().transactional((tx) => giveUpSome(tx, ports.sealer, userId));
    if (givenUp < batch) break;
  }
  await failpoint('erase.before-objects');
  await removeObjects(em, ports, userId);
  await emptySpace(em, ports, userId);
}

async function giveUpSome(tx: EntityManager, sealer: Sealer, userId: string): Promise<number> {
  const theirs = await tx.execute<{ id: string }[]>(
    `select d.id from documents d join users u on u.id = d.created_by
     where d.created_by = ? and d.deleted_at is null and (d.organization_id is null or d.identity_scan
       or u.user_type = 'individual'
         and not exists (select from charitable_causes c where d.product_type = 'charitable_cause'
           and c.id = d.product_id and c.organization_id = d.organization_id)
         and not exists (select from transactions t join accounts a on a.id in (t.source_account_id, t.destination_account_id)
           where d.product_type = 'transaction' and t.id = d.product_id and t.user_id is distinct from d.created_by
             and a.kind = 'organization' and a.organization_id = d.organization_id))
     order by d.created_at, d.id limit ${batch}`,
    [userId],
  );
  const documents = await tx.find(Document, { id: { $in: theirs.map(({ id }) => id) } });
  const now = await readDatabaseClock(tx);
  for (const document of documents) {
    tx.assign(document, { deleted_at: now, deleted_by: userId });
    await giveUpObject(tx, sealer, document);
  }
  await tx.flush();
  return documents.length;
}

/** Removes what was given up, and uploads that did not end. One that stays holds up no other; then it throws. */
async function removeObjects(em: EntityManager, ports: Ports, userId: string): Promise<void> {
  const failures: unknown[] = [];
  const removable = `select id from document_uploads
    where user_id = ? and (given_up or created_at <= clock_timestamp() - ? * interval '1 millisecond') and id > ?
    order by id limit 1000`;
  for await (const ids of readIdsInParts(em, removable, [userId, abandonedAfterMs])) {
    for (const id of ids) {
      await abandonUpload(em.fork(), ports, id).catch((error: unknown) => failures.push(error));
    }
  }
  if (failures.length > 0) throw failures[0];
  const left = await em.execute<unknown[]>('select 1 from document_uploads where user_id = ? limit 1', [userId]);
  if (left.length > 0) throw new Error('a file of theirs is not removed yet');
}

/** Removes all that the store has in the person's own space. One that stays holds up no other; then it throws. */
async function emptySpace(em: EntityManager, { storage }: Ports, userId: string): Promise<void> {
  const failures: unknown[] = [];
  for await (const key of storage.list(spaceOf(userId))) {
    const isSettled = await removeUncarried(em.fork(), storage, key).catch((error: unknown) => {
      failures.push(error);
      return true;
    });
    if (!isSettled) failures.push(new Error('a file of theirs is not removed yet'));
  }
  if (failures.length > 0) throw failures[0];
}
