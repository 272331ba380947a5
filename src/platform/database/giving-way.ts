import { setTimeout as delay } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import { budgets } from '../../shared/budgets.ts';
import { errorCodeOf } from '../../shared/errors.ts';

/** SQLSTATEs of a transaction that blocked others or was blocked (lock time-out, deadlock). */
const inTheWay: readonly unknown[] = ['55P03', '40P01'];

/**
 * Limits each wait for a lock in the caller's transaction to half a second. Deadlock detection starts after a second,
 * so this transaction always gives way before those with the opposite lock order.
 */
export async function giveWaySoon(tx: EntityManager): Promise<void> {
  await tx.execute("set local lock_timeout = '500ms'");
}

/**
 * Runs work that briefly needs exclusive access to a table. When it cannot get a lock in time, it gives way and retries
 * after a pause; after `givesWayMs` it throws the last error. Calls `tell` on each retry.
 */
export async function givingWay<T>(
  work: () => Promise<T>,
  { givesWayMs = budgets.migration.givesWay, tell = () => {} }: { givesWayMs?: number; tell?: () => void } = {},
): Promise<T> {
  const startedAt = performance.now();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!inTheWay.includes(errorCodeOf(error)) || performance.now() - startedAt > givesWayMs) throw error;
      tell();
      await delay(budgets.migration.pause);
    }
  }
}
