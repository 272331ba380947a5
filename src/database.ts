import { Migrator } from '@mikro-orm/migrations';
import { defineConfig, MikroORM } from '@mikro-orm/postgresql';
import { entities } from './entities.ts';
import { migrations } from './migrations/index.ts';
import { prepareMarkedStatements } from './prepared-statements.ts';

/** The pool of `pg`, as far as it is used here. */
interface Pool {
  on(event: 'connect', listener: typeof prepareMarkedStatements): unknown;
}

export interface DatabaseOptions {
  url: string;
  poolSize: number;
  /** Called with the ORM's own warnings, e.g. of a lost connection. */
  log?: (message: string) => void;
}

/** Waiting for a connection or for the server longer than this is "the database is away" (a 503 within 3 seconds). */
const connectTimeoutMs = 2000;
/** No statement of a request or an activity may run longer. */
const statementTimeoutMs = 30_000;

/** The ORM's options for one database; shared by the processes and by the command line of MikroORM. */
export function databaseConfig({ url, poolSize, log }: DatabaseOptions) {
  return defineConfig({
    clientUrl: url,
    entities,
    extensions: [Migrator],
    migrations: {
      migrationsList: migrations,
      tableName: 'schema_migrations',
      transactional: true,
      allOrNothing: true,
      snapshot: false,
      silent: true,
    },
    pool: { min: 0, max: poolSize, idleTimeoutMillis: 30_000 },
    driverOptions: {
      connectionTimeoutMillis: connectTimeoutMs,
      statement_timeout: statementTimeoutMs,
      application_name: 'amanah',
      keepAlive: true,
      onPoolCreated: (pool: Pool) => pool.on('connect', prepareMarkedStatements),
    },
    forceUtcTimezone: true,
    allowGlobalContext: false,
    ...(log === undefined ? {} : { logger: log }),
  });
}

/** Opens the database (lazily: the first query connects). Close it with `orm.close()`. */
export function openDatabase(options: DatabaseOptions): Promise<MikroORM> {
  return MikroORM.init(databaseConfig(options));
}
