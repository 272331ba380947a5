import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { User } from '../members/user.entity.ts';

/** Revokes every token of the user permanently, in the caller's transaction, which has locked the user's row. */
export async function endTokens(tx: EntityManager, user: User): Promise<void> {
  user.token_generation += 1;
  // Another issuer's tokens are revoked by their time of issue, compared with the database's clock.
  user.tokens_ended_at = await readDatabaseClock(tx);
}

/**
 * Locks and returns the caller's own row, for changes that outlive the token: a password, a second factor. Throws
 * UNAUTHENTICATED if the token was revoked after it was checked, e.g. by logging out everywhere.
 */
export async function lockOwnRow(
  tx: EntityManager,
  { userId, token }: Pick<Caller, 'userId' | 'token'>,
): Promise<User> {
  const user = await lockUserRow(tx, userId);
  await refuseEnded(tx, { userId, token });
  return user;
}

/** Throws UNAUTHENTICATED if the caller's token was revoked after it was checked, for work that follows a wait. */
export async function refuseEnded(
  tx: EntityManager,
  { userId, token }: Pick<Caller, 'userId' | 'token'>,
): Promise<void> {
  const live = await tx.execute<unknown[]>(
    'select 1 from callers_of(array[?]::uuid[], array[?]::text[], array[?]::integer[], array[?]::timestamptz[])',
    [userId, token.tokenId, token.generation, token.issuedAt],
  );
  if (live.length === 0) refuse('UNAUTHENTICATED', 'The token is not valid');
}

/** Locks the user until the transaction ends and reads it afresh. */
export function lockUserRow(tx: EntityManager, userId: string): Promise<User> {
  return tx.findOneOrFail(User, userId, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
}

/**
 * Share-locks the user until the caller's transaction ends and reads it afresh. Waits for a suspension or erasure in
 * progress; a later one waits.
 */
export async function holdUserRow(tx: EntityManager, userId: string): Promise<User> {
  await tx.execute('select from users where id = ? for key share', [userId]);
  return tx.findOneOrFail(User, userId, { refresh: true });
}
