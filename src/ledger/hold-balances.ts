import type { EntityManager } from '@mikro-orm/postgresql';
import { textArray } from '../shared/postgres.ts';

/** Accounts of all the journals that a transaction is about to write. */
export interface HeldBalances {
  debited: readonly string[];
  credited: readonly string[];
}

/**
 * Locks the balances of several journals at once, in the one order of all transactions (`lockOrder`), until the caller's
 * transaction ends. For whoever writes a second journal after a first one: each alone would keep the order, both would
 * not. More accounts than are then needed do no harm.
 */
export async function holdBalances(tx: EntityManager, { debited, credited }: HeldBalances): Promise<void> {
  await tx.execute('select hold_balances(?::uuid[], ?::uuid[])', [textArray(debited), textArray(credited)]);
}
