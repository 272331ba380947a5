import type { EntityManager } from '@mikro-orm/postgresql';
import { budgets } from '../../shared/budgets.ts';
import { withTime } from '../database/database-time-outs.ts';
import { timeLeft } from '../database/time-limit.ts';

/** Rows that one round forgets: one short transaction. */
const roundLimit = 10_000;
/** Rows that are held are left out; a table that is held is waited for so briefly that several leave time for the rest. */
const budget = { ...budgets.database.sweep, lock: budgets.database.role.lock };

/** Forgets up to `limit` rows of a kind; returns how many. */
export type Forget = (tx: EntityManager, limit: number) => Promise<number>;
/** A kind whose rows take long each: a round forgets fewer, so that it stays short. */
export interface SlowKind {
  forget: Forget;
  roundLimit: number;
}

/**
 * Forgets rows of several kinds in rounds, each a transaction of its own: a kind goes on for as long as its rounds are
 * full, and time is left. So what is kept for a time goes as fast as it came. Half of the time of a sweep is taken, at
 * most: the next run continues. A kind that fails holds up no other; all that failed are thrown at the end, by name.
 * Returns how many rows it forgot.
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
  if (failures.size > 0)
    throw new AggregateError(failures.values(), `not forgotten: ${[...failures.keys()].join(', ')}`);
  return forgotten;
}
