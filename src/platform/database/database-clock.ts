import type { EntityManager } from '@mikro-orm/postgresql';
import { must } from '../../shared/assert.ts';

/**
 * Reads the database's clock, which all processes share: times in rows, and waits counted from them, use it. A
 * process's own clock may be hours off.
 */
export async function readDatabaseClock(em: EntityManager): Promise<Date> {
  const [row] = await em.execute<{ now: Date | string }[]>('select clock_timestamp() as now');
  return new Date(must(row, 'a select without a table has a row').now);
}

/** The clock that decides whether a workflow's wait is over: the database's, unless Temporal skips time. */
export interface DueBy {
  skipsTime: boolean;
}

/**
 * Returns how many milliseconds remain until `due` by the database's clock; 0 if it is due. A step may run early:
 * anyone with access to Temporal can start it, and Temporal's clock may be wrong.
 */
export async function earliness(em: EntityManager, due: Date, { skipsTime }: DueBy): Promise<number> {
  if (skipsTime) return 0;
  return Math.max(0, due.getTime() - (await readDatabaseClock(em)).getTime());
}
