import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EntityManager } from '@mikro-orm/postgresql';
import pg from 'pg';
import { makeKeysDatabase } from '../dev/keys-database.ts';
import { type Part, startPart } from '../dev/part.ts';
import { findFreePort } from '../dev/ports.ts';
import { keysUrlBeside, postgresUrl, startPostgres } from '../dev/postgres.ts';
import { startApi } from '../dev/service-parts.ts';
import { readConfig } from '../src/platform/config/config.ts';
import { applicationRole } from '../src/platform/database/database-roles.ts';
import { migrate } from '../src/wiring/commands/migrate.ts';
import { type Dependencies, openDependencies } from '../src/wiring/dependencies.ts';
import { openDatabase } from '../src/wiring/open-database.ts';

export const poolSize = 16;

/** A temporary PostgreSQL with our schema, and the dependencies that use it; nothing else runs. */
export interface BenchStack extends AsyncDisposable {
  /** The URL for the owner's role. */
  databaseUrl: string;
  owner(): EntityManager;
  postgres: Part;
  /** The product's dependencies, with the application's role. */
  deps: Dependencies;
  env: Record<string, string>;
  /** Starts `src/api.ts` as a deployment does; each call starts one more process, on its own port. */
  startApi(): Promise<{ port: number; part: Part }>;
  startBareRoute(options: object): Promise<{ port: number; part: Part }>;
}

/** Without `--durable`, commits do not wait for the disk, which is not measured. */
const disk = (): Record<string, string> => (flag('durable') ? {} : { fsync: 'off', full_page_writes: 'off' });

/** Starts PostgreSQL with the schema; `settings` are further settings of the server, as for `postgres -c`. */
export async function startBenchStack(more: { settings?: Record<string, string> } = {}): Promise<BenchStack> {
  const directory = mkdtempSync(join(tmpdir(), 'amanah-bench-'));
  const parts: Part[] = [];
  const logFile = (name: string) => join(directory, `${name}.log`);
  const keep = async (starting: Promise<Part>): Promise<Part> => {
    const part = await starting;
    parts.push(part);
    return part;
  };
  const options = {
    directory: join(directory, 'postgres'),
    port: await findFreePort(),
    password: randomBytes(12).toString('hex'),
    database: 'amanah',
    settings: { shared_buffers: '256MB', max_wal_size: '4GB', max_connections: '400', ...disk(), ...more.settings },
  };
  const postgres = await keep(startPostgres(options, { logFile: logFile('postgres') }));
  const databaseUrl = postgresUrl(options);
  await migrate(databaseUrl, { [applicationRole]: options.password });
  await makeKeysDatabase(keysUrlBeside(databaseUrl));
  const owner = await openDatabase({ url: databaseUrl, poolSize: 2 });
  const port = await findFreePort();
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '',
    NODE_ENV: 'production',
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    TRUST_PROXY: 'false',
    LOG_LEVEL: 'warn',
    DATABASE_URL: postgresUrl({ ...options, role: applicationRole }),
    KEYS_DATABASE_URL: keysUrlBeside(postgresUrl({ ...options, role: applicationRole })),
    DATABASE_POOL_SIZE: String(poolSize),
    // Balance payments and lists use neither Temporal nor storage nor the provider.
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    S3_ENDPOINT: 'http://127.0.0.1:1',
    S3_BUCKET: 'bench',
    S3_ACCESS_KEY_ID: 'bench',
    S3_SECRET_ACCESS_KEY: 'bench',
    XENDIT_SECRET_KEY: 'xnd_bench',
    XENDIT_CALLBACK_TOKEN: randomBytes(16).toString('hex'),
    DATA_ENCRYPTION_KEYS: `bench:${randomBytes(32).toString('base64')}`,
    SEAL_SIGNING_KEY: `bench:${randomBytes(32).toString('base64')}`,
    AUTH_TOKEN_TTL_SECONDS: '86400',
  };
  const deps = await openDependencies(readConfig(env), { process: 'bench' });
  return {
    databaseUrl,
    owner: () => owner.em.fork(),
    postgres,
    deps,
    env,
    startApi: async () => {
      const ownPort = await findFreePort();
      const part = await keep(startApi({ env: { ...env, PORT: String(ownPort) }, logFile: logFile('api') }));
      return { port: ownPort, part };
    },
    startBareRoute: async (bare) => {
      const barePort = await findFreePort();
      const part = await keep(
        startPart({
          name: 'The bare route',
          script: join(import.meta.dirname, 'bare-route.ts'),
          env: process.env,
          options: { ...bare, port: barePort, databaseUrl, poolSize },
          logFile: logFile('bare-route'),
          readyWithinMs: 30_000,
        }),
      );
      return { port: barePort, part };
    },
    async [Symbol.asyncDispose]() {
      await deps[Symbol.asyncDispose]();
      await owner.close(true);
      for (const part of parts.reverse()) await part.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Vacuums and analyzes the database, without the statement time-out, which a large database would exceed. */
export async function vacuum(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('set statement_timeout = 0');
    await client.query('set transaction_timeout = 0');
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
}

/** Whether `--name` was given. */
export const flag = (name: string): boolean => process.argv.includes(`--${name}`);

/** The value of `--name value`, or the default. */
export function argument(name: string, standard: number): number {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? standard : Number(process.argv[at + 1]);
}
