import type { EntityData } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import type { Cause } from './cause.entity.ts';

/** Changes a cause that the caller's transaction has locked; sets `updated_at` from the database's clock. */
export async function changeCause(tx: EntityManager, cause: Cause, changes: EntityData<Cause>): Promise<void> {
  tx.assign(cause, { ...changes, updated_at: await readDatabaseClock(tx) });
  await tx.flush();
}
