import type { EntityManager } from '@mikro-orm/postgresql';
import { ConfigError } from '../config.ts';
import { baseline } from './index.ts';
import { baselineMark } from './m0001-baseline.ts';

/**
 * Throws ConfigError for a database that was migrated, but not from this baseline: it was made by a version of which
 * none leads to this one. It is told by name, before a migration stumbles over what it finds there.
 */
export async function refuseOldDatabase(tx: EntityManager): Promise<void> {
  const [{ database, migrated }] = await tx.execute<[{ database: string; migrated: boolean }]>(
    "select current_database() as database, to_regclass('schema_migrations') is not null as migrated",
  );
  if (!migrated) return;
  const rows = await tx.execute<{ name: string }[]>('select name from schema_migrations order by id');
  const known = rows.map(({ name }) => name);
  if (known.length === 0) return;
  if (known.includes(baseline.name)) {
    const [{ mark }] = await tx.execute<[{ mark: string | null }]>(
      "select obj_description('public'::regnamespace, 'pg_namespace') as mark",
    );
    if (mark === baselineMark()) return;
    throw new ConfigError(
      `The database ${database} was made from another text of ${baseline.name} than this version has, before the first ` +
        'release, and nothing leads from there to this version: take a new, empty database.',
    );
  }
  throw new ConfigError(
    `The database ${database} is from before ${baseline.name} (it knows ${known[0]} to ${known.at(-1)}), ` +
      'and nothing leads from there to this version: take a new, empty database.',
  );
}
