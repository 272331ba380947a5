import type { EntityManager } from '@mikro-orm/postgresql';
import { readPayer } from '../people/identity/read-payer.ts';
import type { Payer } from '../shared/caller.ts';

/**
 * Waits for the lock of a payment's source account and holds it until the caller's transaction ends, so that the target
 * is judged after the wait, and so is the payer, who may have been suspended meanwhile (FORBIDDEN, as `readPayer`).
 * Locks nothing for an account that is not the payer's.
 */
export async function lockSource(
  tx: EntityManager,
  { payer, sourceAccountId }: { payer: Payer; sourceAccountId: string },
): Promise<void> {
  const { userId, userType, organizationId } = payer;
  await tx.execute('select lock_source(?, ?, ?, ?)', [userId, userType, organizationId, sourceAccountId]);
  await readPayer(tx, userId);
}
