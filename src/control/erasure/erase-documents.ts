import type { EntityManager } from '@mikro-orm/postgresql';
import { abandonUpload, giveUpObject, removeUncarried } from '../../people/documents/abandon-upload.ts';
import { Document } from '../../people/documents/document.entity.ts';
import { spaceOf } from '../../people/documents/document.ts';
import { abandonedAfterMs } from '../../people/documents/sweep-uploads.ts';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import { readIdsInParts } from '../../platform/database/read-ids.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { failpoint } from '../../shared/failpoint.ts';

interface Ports {
  storage: Storage;
  sealer: Sealer;
}

/**
 * Deletes the documents that a person stored, and their objects. Keeps those of an organization: stored by its own
 * users, or by an individual for its causes or for others' transactions on its accounts. A scan of an identity document
 * always belongs to the person. Completes only when the store confirms that every object is gone, including objects
 * abandoned earlier, and objects in the person's space whose rows were lost by restoring an older database. Safe to
 * repeat: the person's rows are empty, so nothing new is added. Throws if anything remains because the store is down or
 * refuses, an upload is in progress, or a document cannot be read; the rest is deleted all the same.
 */
export async function eraseDocuments(em: EntityManager, ports: Ports, userId: string): Promise<void> {
  await ports.storage.ping();
  const failures: unknown[] = [];
  await giveUpAll(em, ports.sealer, { userId, failures });
  await failpoint('erase.before-objects');
  await removeObjects(em, ports, { userId, failures });
  await emptySpace(em, ports, { userId, failures });
  if (failures.length > 0) throw failures[0];
}

/** The person whose files are deleted, and the list of failures. */
interface Removal {
  userId: string;
  failures: unknown[];
}

/** Abandons the objects of all documents to delete. */
async function giveUpAll(em: EntityManager, sealer: Sealer, { userId, failures }: Removal): Promise<void> {
  const theirs = `select d.id from documents d join users u on u.id = d.created_by
     where d.created_by = ? and d.deleted_at is null and (d.organization_id is null or d.identity_scan
       or u.user_type = 'individual'
         and not exists (select from charitable_causes c where d.product_type = 'charitable_cause'
           and c.id = d.product_id and c.organization_id = d.organization_id)
         and not exists (select from transactions t join accounts a on a.id in (t.source_account_id, t.destination_account_id)
           where d.product_type = 'transaction' and t.id = d.product_id and t.user_id is distinct from d.created_by
             and a.kind = 'organization' and a.organization_id = d.organization_id))
       and d.id > ?
     order by d.id limit 1000`;
  for await (const ids of readIdsInParts(em, theirs, [userId])) {
    for (const id of ids) {
      await em
        .fork()
        .transactional((tx) => giveUp(tx, sealer, { id, userId }))
        .catch((cause: unknown) => failures.push(new Error(`could not abandon the file of document ${id}`, { cause })));
    }
  }
}

async function giveUp(
  tx: EntityManager,
  sealer: Sealer,
  { id, userId }: { id: string; userId: string },
): Promise<void> {
  const document = await tx.findOne(Document, { id, deleted_at: null });
  if (document === null) return;
  await giveUpObject(tx, sealer, document);
  tx.assign(document, { deleted_at: await readDatabaseClock(tx), deleted_by: userId });
  await tx.flush();
}

/** Removes abandoned objects and interrupted uploads. */
async function removeObjects(em: EntityManager, ports: Ports, { userId, failures }: Removal): Promise<void> {
  const removable = `select id from document_uploads
    where user_id = ? and (given_up or created_at <= clock_timestamp() - ? * interval '1 millisecond') and id > ?
    order by id limit 1000`;
  for await (const ids of readIdsInParts(em, removable, [userId, abandonedAfterMs])) {
    for (const id of ids) {
      await abandonUpload(em.fork(), ports, id).catch((error: unknown) => failures.push(error));
    }
  }
  const left = await em.execute<unknown[]>('select 1 from document_uploads where user_id = ? limit 1', [userId]);
  if (left.length > 0) failures.push(new Error('some files of the erased person remain'));
}

/** Removes everything in the person's own space from the store. */
async function emptySpace(em: EntityManager, { storage }: Ports, { userId, failures }: Removal): Promise<void> {
  for await (const key of storage.list(spaceOf(userId))) {
    await removeUncarried(em.fork(), storage, key).catch((error: unknown) => failures.push(error));
  }
}
