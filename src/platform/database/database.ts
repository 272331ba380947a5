import { Migrator } from '@mikro-orm/migrations';
import { defineConfig, MikroORM } from '@mikro-orm/postgresql';
import { migrations, type NamedMigration } from '../../migrations/index.ts';
import { budgets } from '../../shared/budgets.ts';
import { entities } from '../../wiring/entities.ts';
import { askByCallback } from './ask-by-callback.ts';
import { tlsOf, withoutParameters } from './database-tls.ts';
import { releaseWhenLost } from './lost-connections.ts';
import { prepareMarkedStatements } from './prepared-statements.ts';
import { keepLimits, type LimitedClient } from './time-limit.ts';

/** The part of a `pg` pool that is used here. */
interface Pool {
  on(event: 'connect', listener: (client: LimitedClient) => void): unknown;
}

/** Innermost first. */
function prepareConnection(client: LimitedClient): void {
  askByCallback(client);
  prepareMarkedStatements(client);
  releaseWhenLost(client);
  keepLimits(client);
}

export interface DatabaseOptions {
  url: string;
  poolSize: number;
  /** How long to wait for a connection, in milliseconds; the default of the product's processes unless given. */
  connectWithinMs?: number;
  /** The product's own unless given. */
  migrations?: readonly NamedMigration[];
  /** Called with the ORM's own warnings, e.g. of a lost connection. */
  log?: (message: string) => void;
}

/** The ORM's options for one database; shared by the processes and by the command line of MikroORM. */
export function databaseConfig({
  url,
  poolSize,
  connectWithinMs,
  log,
  migrations: list = migrations,
}: DatabaseOptions) {
  return defineConfig({
    clientUrl: withoutParameters(url),
    entities,
    extensions: [Migrator],
    migrations: {
      migrationsList: [...list],
      tableName: 'schema_migrations',
      // Each in a transaction of its own, except those that declare that they cannot be.
      transactional: true,
      allOrNothing: false,
      snapshot: false,
      silent: true,
    },
    pool: { min: 0, max: poolSize, idleTimeoutMillis: 30_000 },
    driverOptions: {
      // Statement time-outs are set on the role, not here: connection parameters are lost behind a pooler.
      connectionTimeoutMillis: connectWithinMs ?? budgets.reach.database,
      ssl: tlsOf(url),
      application_name: 'amanah',
      keepAlive: true,
      onPoolCreated: (pool: Pool) => pool.on('connect', prepareConnection),
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
