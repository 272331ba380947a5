import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { getOwnBankAccount } from './get-own-bank-account.ts';

/** Soft-deletes a bank account. Throws FORBIDDEN for someone else's, NOT_FOUND for one missing or already deleted. */
export async function deleteBankAccount(
  em: EntityManager,
  { caller, requestId, id }: { caller: Caller; requestId: string; id: string },
): Promise<void> {
  await em.transactional(async (tx) => {
    const account = await getOwnBankAccount(tx, caller, id, { field: 'id', lockMode: LockMode.PESSIMISTIC_WRITE });
    account.deleted_at = await readDatabaseClock(tx);
    await tx.flush();
    await recordAction(tx, { caller, requestId }, 'RESOURCE_DELETED', ['bank_account', id]);
  });
}

/**
 * Soft-deletes every bank account that the user added, with an event each; in the caller's transaction. Open
 * withdrawals are not affected.
 */
export async function deleteBankAccountsOf(
  tx: EntityManager,
  { userId, requestId }: { userId: string; requestId: string },
): Promise<void> {
  const deleted = await tx.execute<{ id: string }[]>(
    'update bank_accounts set deleted_at = clock_timestamp() where user_id = ? and deleted_at is null returning id',
    [userId],
  );
  for (const { id } of deleted) {
    await recordAction(tx, { actorId: userId, requestId }, 'RESOURCE_DELETED', ['bank_account', id]);
  }
}
