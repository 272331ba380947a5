import type { EntityManager } from '@mikro-orm/postgresql';

/**
 * The id of the person who had this account of their own and was erased; null for any other account. Waits for an erasure
 * under way; a later one waits until the caller's transaction ends.
 */
export async function findErasedOwner(tx: EntityManager, accountId: string): Promise<string | null> {
  const [owner] = await tx.execute<{ id: string; is_erased: boolean }[]>(
    `select u.id, u.erased_at is not null as is_erased from accounts a join users u on u.id = a.user_id
     where a.id = ? and a.kind = 'user' for key share of u`,
    [accountId],
  );
  return owner?.is_erased ? owner.id : null;
}
