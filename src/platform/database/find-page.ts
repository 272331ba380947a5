import { type EntityClass, type EntityDictionary, type FilterQuery, raw } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import {
  comesAfter,
  countOnce,
  cutPage,
  type Listed,
  type Placed,
  paramsOf,
  positionOf,
  startOfPage,
} from './position.ts';
import { readFresh } from './replica.ts';

/**
 * The part of a list to read: a page, or the rows after `after`, which is the previous page's `next` or the id of a row
 * (keyset). Newest first by default.
 */
export interface ListWindow {
  page: number;
  limit: number;
  after?: string | undefined;
  order?: 'asc' | 'desc' | undefined;
}

interface Created {
  id: string;
  created_at: Date;
}

/** The row's columns in the statements below. */
const columns = ['"row".created_at', '"row".id'] as const;

/**
 * Reads a page of a list (`readFresh`) in the order of creation, with the total number of matches, and `next` when more
 * rows follow (docs/contract.md 0). A page past the end is empty. If `after` is an id, it must belong to a row `within`
 * the list, filtered out or not; without `within`, to a matching row. Otherwise throws REQUEST_INVALID.
 */
export function findPage<T extends Created>(
  em: EntityManager,
  entity: EntityClass<T>,
  where: FilterQuery<T>,
  window: ListWindow,
  { within = where }: { within?: FilterQuery<T> } = {},
): Promise<Listed & { items: T[] }> {
  return readFresh(em, (reader) => readPage(reader, entity, where, window, { within }));
}

/** `findPage` with a reader from `readFresh`, for lists that read more about their rows with the same reader. */
export async function readPage<T extends Created>(
  em: EntityManager,
  entity: EntityClass<T>,
  where: FilterQuery<T>,
  { page, limit, after, order = 'desc' }: ListWindow,
  { within = where }: { within?: FilterQuery<T> } = {},
): Promise<Listed & { items: T[] }> {
  const position = raw(`${positionOf(...columns)} as position`);
  const start = await startOfPage(after, (id) =>
    em
      .createQueryBuilder(entity, 'row')
      .select([position as never])
      .where({ $and: [{ id }, within] } as never)
      .execute<Placed[]>('all', false),
  );
  const counted = await countOnce(start, [entity.name, where], () => em.count(entity, where));
  const further = start && raw(comesAfter(...columns, order), paramsOf(start));
  const read = await em
    .createQueryBuilder(entity, 'row')
    .select(['*', position] as never)
    .where((further === undefined ? where : { $and: [where, { [further]: [] }] }) as never)
    .orderBy([{ created_at: order }, { id: order }] as never)
    .limit(limit + 1, start === undefined ? (page - 1) * limit : 0)
    .execute<(EntityDictionary<T> & Placed)[]>('all', false);
  const { rows, next } = cutPage(read, limit, counted);
  return { items: rows.map((row) => em.map(entity, row as EntityDictionary<T>)), total: counted.total, next };
}
