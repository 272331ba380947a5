import type { EntityManager } from '@mikro-orm/postgresql';

/**
 * Creates the missing partitions of the coming months, each in its own transaction, and moves rows that arrived early
 * into it; returns their names. Throws 55P03 when it cannot get a brief lock; the next call continues. Not for use in a
 * transaction.
 */
export async function makeComingMonths(em: EntityManager): Promise<string[]> {
  const made: string[] = [];
  for (;;) {
    const [{ name }] = await em.execute<[{ name: string | null }]>('select make_coming_month() as name');
    if (name === null) return made;
    made.push(name);
  }
}
