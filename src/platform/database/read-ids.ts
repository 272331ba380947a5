import type { EntityManager } from '@mikro-orm/postgresql';

/** Before every id. */
const first = '00000000-0000-0000-0000-000000000000';

/**
 * The ids of a query that takes `params` and then the last id it has read, and reads those after it in their order, a part
 * at a time.
 */
export async function* readIdsInParts(
  em: Pick<EntityManager, 'execute'>,
  query: string,
  params: readonly unknown[] = [],
): AsyncGenerator<string[], void, undefined> {
  for (let after = first; ; ) {
    const ids = (await em.execute<{ id: string }[]>(query, [...params, after])).map(({ id }) => id);
    const last = ids.at(-1);
    if (last === undefined) return;
    yield ids;
    after = last;
  }
}
