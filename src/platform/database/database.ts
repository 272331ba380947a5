import { type Migration, Migrator } from '@mikro-orm/migrations';
import { defineConfig, type Options } from '@mikro-orm/postgresql';
import { budgets } from '../../shared/budgets.ts';
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

/** A migration under the name by which a database knows that it has been made. */
export interface NamedMigration {
  name: string;
  class: new (...args: ConstructorParameters<typeof Migration>) => Migration;
}

/** What lies in a database. */
export interface Contents {
  entities: NonNullable<Options['entities']>;
  migrations: readonly NamedMigration[];
}

export interface DatabaseOptions {
  url: string;
  poolSize: number;
  /** How long to wait for a connection, in milliseconds; the default of the product's processes unless given. */
  connectWithinMs?: number;
  /** Called with the ORM's own warnings, e.g. of a lost connection. */
  log?: (message: string) => void;
}

/** The ORM's options for one database with what lies in it. */
export function connectionTo(
  { entities, migrations }: Contents,
  { url, poolSize, connectWithinMs, log }: DatabaseOptions,
) {
  return defineConfig({
    clientUrl: withoutParameters(url),
    entities: [...entities],
    extensions: [Migrator],
    migrations: {
      migrationsList: [...migrations],
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
