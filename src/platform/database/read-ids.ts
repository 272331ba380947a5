import type { EntityManager } from '@mikro-orm/postgresql';

/** Sorts before every id. */
const first = '00000000-0000-0000-0000-000000000000';

/** Yields a query's ids in order and in batches. The query's parameters are `params` and the last id read. */
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
