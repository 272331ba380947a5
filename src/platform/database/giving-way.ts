import { setTimeout as delay } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import { budgets } from '../../shared/budgets.ts';
import { errorCodeOf } from '../../shared/errors.ts';

/** SQLSTATEs of a transaction that blocked others or was blocked (lock time-out, deadlock). */
const inTheWay: readonly unknown[] = ['55P03', '40P01'];

/**
 * In the caller's transaction, waits half a second for each lock and no longer. Deadlocks are looked for after a second:
 * so whoever holds a table and waits for another always gives way before those who wait for it the other way round.
 */
export async function giveWaySoon(tx: EntityManager): Promise<void> {
  await tx.execute("set local lock_timeout = '500ms'");
}

/**
 * Does something that needs a table to itself for a moment. When it gets no lock in time, it lets others go first and
 * retries after a pause; after `givesWayMs` it throws the last error. Calls `tell` on each retry.
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
