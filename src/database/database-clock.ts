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
