import type { EntityManager } from '@mikro-orm/postgresql';
import { must } from '../shared/assert.ts';
import { refuse } from '../shared/errors.ts';

/** What a file may add to what its user has stored, both in bytes. */
interface Addition {
  userId: string;
  sizeBytes: number;
  maximumBytes: number;
}

/** Refuses (400) a file that makes what the documents of its user carry more than the limit; an object counts once. */
export async function refuseBeyondStoredBytes(
  em: EntityManager,
  { userId, sizeBytes, maximumBytes }: Addition,
): Promise<void> {
  const [row] = await em.execute<{ stored: string }[]>(
    `select coalesce(sum(size_bytes), 0) as stored from (
       select distinct on (coalesce(url_hash, id::text)) size_bytes from documents
       where created_by = ? and deleted_at is null) objects`,
    [userId],
  );
  const stored = Number(must(row, 'a sum has a row').stored);
  if (stored + sizeBytes <= maximumBytes) return;
  refuse(
    'REQUEST_INVALID',
    `file: your files have ${stored} bytes already; at most ${maximumBytes} are kept for a user`,
  );
}

/** As `refuseBeyondStoredBytes`, with every other upload of the user waiting until the transaction ends. */
export async function guardStoredBytes(tx: EntityManager, addition: Addition): Promise<void> {
  await tx.execute("select pg_advisory_xact_lock(hashtextextended('stored-bytes/' || ?, 0))", [addition.userId]);
  await refuseBeyondStoredBytes(tx, addition);
}
