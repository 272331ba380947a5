import type { EntityManager } from '@mikro-orm/postgresql';

/**
 * How long a verdict is kept. Nothing asks for one that is older than an opening lives (minutes); it is kept this long
 * for people who ask what became of a request.
 */
const keptDays = 30;

/** Forgets old verdicts, up to `limit` of them; returns how many. What was made stays. */
export async function forgetOpenings(em: EntityManager, limit: number): Promise<number> {
  const rows = await em.execute<unknown[]>(
    `delete from openings where resource_id in (select resource_id from openings
       where decided_at < now() - make_interval(days => ?) order by decided_at limit ?) returning 1`,
    [keptDays, limit],
  );
  return rows.length;
}
