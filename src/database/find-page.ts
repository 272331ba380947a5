import { type EntityClass, type FilterQuery, raw } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { refuse } from '../shared/errors.ts';

/** The part of a list to read: a page, or the rows after the row `after` (keyset). Newest first by default. */
export interface ListWindow {
  page: number;
  limit: number;
  after?: string | undefined;
  order?: 'asc' | 'desc' | undefined;
}

interface Listed {
  id: string;
  created_at: Date;
}

/**
 * One page of a list in the order of creation, with the number of all matches (docs/contract.md 0). A page past the
 * end, or after a row that does not exist, is empty. With `of`, only rows with this value are rows of the list,
 * whatever the filter; throws REQUEST_INVALID for an `after` that names another one or none.
 */
export async function findPage<T extends Listed>(
  em: EntityManager,
  entity: EntityClass<T>,
  where: FilterQuery<T>,
  { page, limit, after, order = 'desc' }: ListWindow,
  { of }: { of?: { column: 'partner_id' | 'payment_id'; id: string } } = {},
): Promise<{ items: T[]; total: number }> {
  const total = await em.count(entity, where);
  const orderBy = [{ created_at: order }, { id: order }] as never;
  if (after === undefined) {
    const items = await em.find(entity, where, { limit, offset: (page - 1) * limit, orderBy });
    return { items, total };
  }
  // One row comparison, from which an index scan can start. The time is read in SQL: a Date would lose microseconds.
  const table = em.getMetadata(entity).tableName;
  const beyond = order === 'desc' ? '<' : '>';
  const own = of === undefined ? '' : ` and ${of.column} = ?`;
  const named = of === undefined ? [after] : [after, of.id];
  const further = raw(
    (alias) => `(${alias}.created_at, ${alias}.id) ${beyond} (select created_at, id from ${table} where id = ?${own})`,
    named,
  );
  const items = await em.find(entity, { $and: [where, { [further]: [] }] } as FilterQuery<T>, { limit, orderBy });
  if (of !== undefined && items.length === 0) {
    const known = await em.execute<unknown[]>(`select 1 from ${table} where id = ?${own}`, named);
    if (known.length === 0) refuse('REQUEST_INVALID', 'names no row of this list', { field: 'after' });
  }
  return { items, total };
}
