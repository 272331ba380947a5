import type { EntityManager } from '@mikro-orm/postgresql';
import { isMonth } from '../archive/archived-month.ts';
import { findDividedTables } from '../archive/find-months.ts';
import { type ArchiveConfig, ConfigError, readArchiveConfig } from '../config.ts';
import { openDatabase } from '../database/database.ts';
import { armFailpoints } from '../shared/failpoint.ts';
import { openStorage, type Storage } from '../storage/storage.ts';
import { CommandError } from './run-command.ts';

export interface ArchiveTools {
  config: ArchiveConfig;
  em: EntityManager;
  storage: Storage;
  /** The divided tables, or the one that was named. */
  tables: string[];
}

/** Does something with the months of tables as the owner of the database. Throws CommandError, naming the option. */
export async function withArchive<T>(
  { month, table }: { month: string | undefined; table: string | undefined },
  work: (tools: ArchiveTools & { month: string }) => Promise<T>,
): Promise<T> {
  if (month === undefined || !isMonth(month)) throw new CommandError('--month is a month, YYYY-MM');
  const config = readArchiveConfig();
  armFailpoints(config.FAILPOINTS);
  const storage = openStorage(config);
  const orm = await openDatabase({ url: config.owner, poolSize: 1 });
  try {
    const em = orm.em.fork();
    await refuseUnlessOwner(em);
    const all = await findDividedTables(em);
    if (table !== undefined && !all.includes(table)) throw new CommandError(`--table is one of ${all.join(', ')}`);
    return await work({ config, em, storage, tables: table === undefined ? all : [table], month });
  } finally {
    await orm.close(true);
    storage.close();
  }
}

async function refuseUnlessOwner(em: EntityManager): Promise<void> {
  const [it] = await em.execute<[{ role: string; may: boolean }]>(
    "select current_user as role, has_schema_privilege('months', 'CREATE') as may",
  );
  if (!it.may) {
    throw new ConfigError(
      `The role ${it.role} may not archive: name the owner of the schema in MIGRATION_DATABASE_URL.`,
    );
  }
}
