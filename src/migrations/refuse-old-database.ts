import type { EntityManager } from '@mikro-orm/postgresql';
import { ConfigError } from '../shared/errors.ts';
import { baselineMark } from './m0001-baseline.ts';

/** Throws ConfigError for a database with another baseline than that of 1.0.0: no migration leads from there. */
export async function refuseOldDatabase(tx: EntityManager): Promise<void> {
  const [{ database, migrated, mark }] = await tx.execute<
    [{ database: string; migrated: boolean; mark: string | null }]
  >(
    `select current_database() as database, to_regclass('schema_migrations') is not null as migrated,
       obj_description('public'::regnamespace, 'pg_namespace') as mark`,
  );
  if (!migrated || mark === baselineMark()) return;
  const [{ made }] = await tx.execute<[{ made: number }]>('select count(*)::int as made from schema_migrations');
  if (made === 0) return;
  throw new ConfigError(
    `The database ${database} was created by a version before 1.0.0 and cannot be upgraded: use a new, empty database.`,
  );
}
