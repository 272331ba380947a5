import type { EntityManager } from '@mikro-orm/postgresql';
import type { Journal } from '../../src/ledger/post-journal.ts';
import { newId } from '../../src/shared/ids.ts';

/** Writes a journal without rows that justify it, as only the owner may. Returns its id, or null if its key exists. */
export async function plantJournal(
  owner: EntityManager,
  { kind, businessKey, postings }: Journal,
): Promise<string | null> {
  const id = newId();
  const [{ written }] = await owner.execute<[{ written: boolean }]>(
    'select write_journal(?, ?, ?, ?::uuid[], ?::numeric[]) as written',
    [
      id,
      businessKey,
      kind,
      `{${postings.map(({ accountId }) => accountId).join(',')}}`,
      `{${postings.map(({ amount }) => amount).join(',')}}`,
    ],
  );
  return written ? id : null;
}
