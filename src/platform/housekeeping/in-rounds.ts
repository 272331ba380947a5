import type { EntityManager } from '@mikro-orm/postgresql';
import { budgets } from '../../shared/budgets.ts';
import { withTime } from '../database/database-time-outs.ts';
import { timeLeft } from '../database/time-limit.ts';

/** Rows deleted in one round: one short transaction. */
const roundLimit = 10_000;
/** Locked rows are skipped; the wait for a locked table is short, to leave time for the other kinds. */
const budget = { ...budgets.database.sweep, lock: budgets.database.role.lock };

/** Deletes up to `limit` rows of a kind; returns how many. */
export type Forget = (tx: EntityManager, limit: number) => Promise<number>;
/** For a kind whose rows are slow to delete: fewer per round, so that it stays short. */
export interface SlowKind {
  forget: Forget;
  roundLimit: number;
}

/**
 * Deletes rows of several kinds in rounds, each in its own transaction: a kind continues while its rounds are full and
 * time is left, so that rows expire as fast as they arrive. Takes at most half the time of a sweep; the next run
 * continues. A failing kind does not delay the others; failures are thrown at the end, by name. Returns how many rows
 * it deleted.
 */
export async function inRounds(em: EntityManager, kinds: Readonly<Record<string, Forget | SlowKind>>): Promise<number> {
  const endsAt = performance.now() + Math.min(budgets.steps.sweep, timeLeft()) / 2;
  const failures = new Map<string, unknown>();
  let forgotten = 0;
  let left = Object.entries(kinds);
  while (left.length > 0 && performance.now() < endsAt) {
    const full: typeof left = [];
    for (const [name, kind] of left) {
      const { forget, roundLimit: limit } = typeof kind === 'function' ? { forget: kind, roundLimit } : kind;
      try {
        const rows = await withTime(em.fork(), budget, (tx) => forget(tx, limit));
        forgotten += rows;
        if (rows >= limit) full.push([name, kind]);
      } catch (error) {
        failures.set(name, error);
      }
    }
    left = full;
  }
  if (failures.size > 0) throw new AggregateError(failures.values(), `not deleted: ${[...failures.keys()].join(', ')}`);
  return forgotten;
}
