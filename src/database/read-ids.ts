import type { EntityManager } from '@mikro-orm/postgresql';

/** Before every id. */
const first = '00000000-0000-0000-0000-000000000000';

/** The ids of a query that takes the last one it has read, and reads those after it in their order, a part at a time. */
export async function* readIdsInParts(
  em: Pick<EntityManager, 'execute'>,
  query: string,
): AsyncGenerator<string[], void, undefined> {
  for (let after = first; ; ) {
    const ids = (await em.execute<{ id: string }[]>(query, [after])).map(({ id }) => id);
    const last = ids.at(-1);
    if (last === undefined) return;
    yield ids;
    after = last;
  }
}
