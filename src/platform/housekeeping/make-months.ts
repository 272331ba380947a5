import type { EntityManager } from '@mikro-orm/postgresql';

/**
 * Makes the partitions of the coming months that are missing, each in a transaction of its own, and moves into each what
 * came while it was missing; returns their names. Throws 55P03 where somebody uses what has to be locked for a moment:
 * they go first, and the next call goes on. Not for use in a transaction.
 */
export async function makeComingMonths(em: EntityManager): Promise<string[]> {
  const made: string[] = [];
  for (;;) {
    const [{ name }] = await em.execute<[{ name: string | null }]>('select make_coming_month() as name');
    if (name === null) return made;
    made.push(name);
  }
}
