import { untilLocked } from './lock-waits.ts';
import type { Stack } from './stack.ts';

export type Suspended = 'users' | 'partners' | 'organizations';

export interface Change {
  table: Suspended | 'roles';
  id: string | null;
  sql: string;
}

/** The suspension of a row of this table. */
export const suspension = (table: Suspended, id: string | null): Change => ({
  table,
  id,
  sql: `update ${table} set status = 'suspended' where id = ?`,
});

/**
 * Starts the work while a change holds the row's lock, commits the change once the work waits for the lock, and returns
 * the work's outcome. The text identifies the work's waiting statement.
 */
export async function meetChange<T>(
  stack: Pick<Stack, 'em' | 'owner'>,
  { table, id, sql }: Change,
  begin: () => Promise<T>,
  text = '',
): Promise<T> {
  let beginning: Promise<T> | undefined;
  await stack.owner().transactional(async (tx) => {
    await tx.execute(`select from ${table} where id = ? for update`, [id]);
    await tx.execute(sql, [id]);
    beginning = begin();
    beginning.catch(() => undefined);
    await untilLocked(stack, { text });
  });
  return beginning as Promise<T>;
}
