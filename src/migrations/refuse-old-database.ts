import type { EntityManager } from '@mikro-orm/postgresql';
import { ConfigError } from '../shared/errors.ts';
import { baseline } from './index.ts';
import { baselineMark } from './m0001-baseline.ts';

/**
 * Throws ConfigError for a database created from a different baseline, from which there is no upgrade to this version.
 */
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
    `The database ${database} was made from another text of ${baseline.name} than this version has, and nothing leads ` +
      'from there to this version: take a new, empty database.',
  );
}
