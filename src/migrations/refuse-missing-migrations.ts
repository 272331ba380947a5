import type { EntityManager } from '@mikro-orm/postgresql';
import type { NamedMigration } from '../platform/database/database.ts';
import { ConfigError } from '../shared/errors.ts';
import { migrations } from './index.ts';

/** What a process knows of its database's schema. */
export interface Schema {
  /** Whether a later release has migrated it. This release still runs on it. */
  isLater: boolean;
}

/** Throws ConfigError, naming them, if the database lacks migrations of this release. */
export async function refuseMissingMigrations(
  em: EntityManager,
  list: readonly NamedMigration[] = migrations,
): Promise<Schema> {
  const [{ exists, database }] = await em.execute<[{ exists: boolean; database: string }]>(
    "select to_regclass('schema_migrations') is not null as exists, current_database() as database",
  );
  const rows = exists ? await em.execute<{ name: string }[]>('select name from schema_migrations') : [];
  const done = new Set(rows.map(({ name }) => name));
  const missing = list.map(({ name }) => name).filter((name) => !done.has(name));
  if (missing.length > 0) {
    throw new ConfigError(
      `The database ${database} lacks migrations of this release (${missing.join(', ')}): run "npm run migrate".`,
    );
  }
  return { isLater: done.size > list.length };
}
