import type { Stack } from '../../support/stack.ts';

/** Moves journals with their postings to another instant, with triggers disabled, as only a superuser can. */
export async function backdate(stack: Pick<Stack, 'owner'>, journalIds: readonly string[], at: string): Promise<void> {
  await stack.owner().transactional(async (tx) => {
    await tx.execute("set local session_replication_role = 'replica'");
    const ids = `{${journalIds.join(',')}}`;
    await tx.execute('update journals set created_at = ? where id = any(?::uuid[])', [at, ids]);
    await tx.execute('update postings set created_at = ? where journal_id = any(?::uuid[])', [at, ids]);
  });
}
