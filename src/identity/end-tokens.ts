import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { User } from './user.entity.ts';

/** Ends every token of the user for good, in the caller's transaction, which holds the user's row. */
export function endTokens(user: User): void {
  user.token_generation += 1;
  user.tokens_ended_at = new Date();
}

/** The user under a lock of this transaction, read as it is now. */
export function lockUserRow(tx: EntityManager, userId: string): Promise<User> {
  return tx.findOneOrFail(User, userId, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
}
