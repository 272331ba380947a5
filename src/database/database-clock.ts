import type { EntityManager } from '@mikro-orm/postgresql';
import { must } from '../shared/assert.ts';

/**
 * The database's clock, which all processes share: what a row says of when something happened, and what is waited for
 * from then on, is told by it. The clock of a process may be hours from it.
 */
export async function readDatabaseClock(em: EntityManager): Promise<Date> {
  const [row] = await em.execute<{ now: Date | string }[]>('select clock_timestamp() as now');
  return new Date(must(row, 'a select without a table has a row').now);
}

/** Who says when something is due that a workflow has waited for: the database's clock, unless Temporal skips time. */
export interface DueBy {
  skipsTime: boolean;
}

/**
 * How many milliseconds a step comes too early for what is due then, by the database's clock; 0 when it is due. Whoever
 * reaches Temporal can have a step begin at any time, and its clock may be wrong.
 */
export async function earliness(em: EntityManager, due: Date, { skipsTime }: DueBy): Promise<number> {
  if (skipsTime) return 0;
  return Math.max(0, due.getTime() - (await readDatabaseClock(em)).getTime());
}
