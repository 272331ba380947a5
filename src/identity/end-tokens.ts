import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../database/database-clock.ts';
import { User } from './user.entity.ts';

/** Ends every token of the user for good, in the caller's transaction, which holds the user's row. */
export async function endTokens(tx: EntityManager, user: User): Promise<void> {
  user.token_generation += 1;
  // Those of another issuer end by when they were issued, which the clock of no process of ours may decide.
  user.tokens_ended_at = await readDatabaseClock(tx);
}

/** The user under a lock of this transaction, read as it is now. */
export function lockUserRow(tx: EntityManager, userId: string): Promise<User> {
  return tx.findOneOrFail(User, userId, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
}
