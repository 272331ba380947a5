import { type Migration, Migrator } from '@mikro-orm/migrations';
import { defineConfig, type Options } from '@mikro-orm/postgresql';
import { budgets } from '../../shared/budgets.ts';
import { tlsOf, withoutParameters } from './database-tls.ts';
import { type PoolClient, releaseWhenLost } from './lost-connections.ts';
import { prepareMarkedStatements } from './prepared-statements.ts';
import { type ServerPool, type WatchStatement, watchStatements } from './stalled-server.ts';
import { keepLimits, type LimitedClient } from './time-limit.ts';
import { traceStatements } from './traced-statements.ts';

/** Returns whether a query is a cursor or a stream, which submits itself. */
const isSubmittable = (config: unknown): boolean =>
  typeof config === 'object' && config !== null && 'submit' in config && typeof config.submit === 'function';

/**
 * Makes a connection pass each result to a callback that resolves our own promise. With the promise that `pg`
 * creates, V8 promotes every result to the old generation, and under load the API spent tens of milliseconds a second
 * on garbage collection. `test/platform/database/garbage.full.test.ts` measures this; the reason in V8 is unknown.
 */
function askByCallback(client: PoolClient, watch: WatchStatement): void {
  const query = client.query.bind(client);
  client.query = (config, ...rest) => {
    if (isSubmittable(config) || rest.some((argument) => typeof argument === 'function')) return query(config, ...rest);
    return new Promise((resolve, reject) => {
      const unwatch = watch(client);
      query(config, rest[0], (error: unknown, result: unknown) => {
        unwatch();
        if (error) reject(error);
        else resolve(result);
      });
    });
  };
}

/** The part of a `pg` pool used here. */
interface Pool extends ServerPool {
  on(event: 'connect', listener: (client: LimitedClient) => void): unknown;
}

/** Wraps the client's `query`, innermost wrapper first. */
function prepareConnection(client: LimitedClient, url: string, watch: WatchStatement): void {
  askByCallback(client, watch);
  prepareMarkedStatements(client);
  releaseWhenLost(client);
  keepLimits(client);
  traceStatements(client, url);
}

/** A migration with the name recorded in the database. */
export interface NamedMigration {
  name: string;
  class: new (...args: ConstructorParameters<typeof Migration>) => Migration;
}

/** The contents of a database. */
export interface Contents {
  entities: NonNullable<Options['entities']>;
  migrations: readonly NamedMigration[];
}

export interface DatabaseOptions {
  url: string;
  poolSize: number;
  /** Maximum wait for a new connection, in milliseconds; `budgets.reach.database` by default. */
  connectWithinMs?: number;
  /** Called with each warning of the ORM, for example about a lost connection. */
  log?: (message: string) => void;
}

/** Builds the ORM's options for one database and its contents. */
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
      // Each migration runs in its own transaction unless it opts out.
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
      onPoolCreated: (pool: Pool) => {
        const watch = watchStatements(pool);
        pool.on('connect', (client) => prepareConnection(client, url, watch));
      },
    },
    forceUtcTimezone: true,
    allowGlobalContext: false,
    ...(log === undefined ? {} : { logger: log }),
  });
}
