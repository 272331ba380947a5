import { MikroORM } from '@mikro-orm/postgresql';
import { migrations } from '../migrations/index.ts';
import { connectionTo, type DatabaseOptions, type NamedMigration } from '../platform/database/database.ts';
import { entities } from './entities.ts';

/** Builds the ORM's options for one database, shared by the processes and MikroORM's command line. */
export const databaseConfig = (
  options: DatabaseOptions & {
    /** The product's own unless given. */
    migrations?: readonly NamedMigration[];
  },
) => connectionTo({ entities, migrations: options.migrations ?? migrations }, options);

/** Opens the database (lazily: the first query connects). Close it with `orm.close()`. */
export function openDatabase(options: Parameters<typeof databaseConfig>[0]): Promise<MikroORM> {
  return MikroORM.init(databaseConfig(options));
}
