import type { EntityManager } from '@mikro-orm/postgresql';
import { withTime } from '../database/database-time-outs.ts';
import { budgets } from '../shared/budgets.ts';
import { timeLeft } from '../time-limit.ts';

/** Rows that one round forgets: one short transaction. */
const roundLimit = 10_000;

/**
 * Forgets rows of several kinds in rounds, each a transaction of its own: a kind goes on for as long as its rounds are
 * full, and time is left. So what is kept for a time goes as fast as it came. Half of the time of a sweep is taken, at
 * most: the next run continues. Returns how many rows it forgot.
 */
export async function inRounds(
  em: EntityManager,
  kinds: readonly ((tx: EntityManager, limit: number) => Promise<number>)[],
): Promise<number> {
  const endsAt = performance.now() + Math.min(budgets.steps.sweep, timeLeft()) / 2;
  let forgotten = 0;
  let left = kinds;
  while (left.length > 0 && performance.now() < endsAt) {
    const full: (typeof kinds)[number][] = [];
    for (const kind of left) {
      const rows = await withTime(em.fork(), budgets.database.sweep, (tx) => kind(tx, roundLimit));
      forgotten += rows;
      if (rows >= roundLimit) full.push(kind);
    }
    left = full;
  }
  return forgotten;
}
