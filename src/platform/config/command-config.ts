import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { must } from '../../shared/assert.ts';
import { ConfigError } from '../../shared/errors.ts';
import { parse, schema, withFiles } from './config.ts';
import {
  type Complaints,
  complainAboutStorage,
  complainAboutTls,
  databases,
  databaseUrl,
  environment,
  keysDatabases,
  logLevel,
  namedKeys,
  provider,
  sampleValues,
  sealing,
  storage,
  temporalServer,
} from './variables.ts';

const migrationSchema = z
  .object({ NODE_ENV: environment, ...databases, ...keysDatabases })
  .partial({ DATABASE_URL: true, KEYS_DATABASE_URL: true })
  .superRefine((env, ctx) => {
    if (env.NODE_ENV !== 'production') return;
    // The roles are created with the passwords from these URLs.
    for (const name of [
      'DATABASE_URL',
      'MIGRATION_DATABASE_URL',
      'READER_DATABASE_URL',
      'KEYS_DATABASE_URL',
      'MIGRATION_KEYS_DATABASE_URL',
    ] as const) {
      if (sampleValues.test(env[name] ?? '')) {
        ctx.addIssue({ code: 'custom', path: [name], message: 'is the sample value from .env.example' });
      }
    }
  });

export interface MigrationConfig {
  /** URL of the schema's owner. */
  owner: string;
  /** URLs with the passwords of the roles to create: the application's and the readers'. */
  application: string | undefined;
  reader: string | undefined;
  /** URLs of the keys database: its owner's and the application's. */
  keysOwner: string;
  keysApplication: string | undefined;
}

/**
 * Reads the configuration of `npm run migrate`. The owners' URLs are MIGRATION_DATABASE_URL, falling back to
 * DATABASE_URL, and MIGRATION_KEYS_DATABASE_URL, falling back to KEYS_DATABASE_URL.
 */
export function readMigrationConfig(env: NodeJS.ProcessEnv = process.env): MigrationConfig {
  const config = parse(migrationSchema, withFiles(env));
  return {
    owner: ownersUrl('DATABASE_URL', config.MIGRATION_DATABASE_URL ?? config.DATABASE_URL),
    application: config.DATABASE_URL,
    reader: config.READER_DATABASE_URL,
    keysOwner: ownersUrl('KEYS_DATABASE_URL', config.MIGRATION_KEYS_DATABASE_URL ?? config.KEYS_DATABASE_URL),
    keysApplication: config.KEYS_DATABASE_URL,
  };
}

function ownersUrl(variable: string, url: string | undefined): string {
  if (url !== undefined) return url;
  throw new ConfigError(`The configuration cannot be used: MIGRATION_${variable} and ${variable} are missing.`);
}

/** The data directory, with the credentials of the running stack. */
export const dataDirectory = (): string => resolve(process.env.DATA_DIR || '.amanah');

const reconciliationSchema = z
  .object({ LOG_LEVEL: logLevel, DATABASE_URL: databaseUrl, ...temporalServer, ...provider })
  .superRefine(complainAboutTls);

/**
 * Reads the configuration of `npm run reconcile`: the database, Temporal and the provider. Uses the environment if it
 * names a database, otherwise the stack running on `DATA_DIR`. Throws ConfigError if there is none.
 */
export function readReconciliationConfig(): z.infer<typeof reconciliationSchema> {
  const env = withFiles(process.env);
  if (env.DATABASE_URL) return parse(reconciliationSchema, env);
  const { LOG_LEVEL } = env;
  return parse(reconciliationSchema, { ...readRunning(), ...(LOG_LEVEL && { LOG_LEVEL }) });
}

function refuseFailpoints(env: { NODE_ENV: string; FAILPOINTS?: string | undefined }, ctx: Complaints): void {
  if (env.NODE_ENV === 'production' && env.FAILPOINTS) {
    ctx.addIssue({ code: 'custom', path: ['FAILPOINTS'], message: 'is refused in production' });
  }
}

const operatorSchema = z
  .object({
    NODE_ENV: environment,
    DATABASE_URL: databaseUrl,
    KEYS_DATABASE_URL: databaseUrl.optional(),
    DATA_ENCRYPTION_KEYS: namedKeys.optional(),
    AUTH_TOKEN_TTL_SECONDS: schema.shape.AUTH_TOKEN_TTL_SECONDS,
    FAILPOINTS: schema.shape.FAILPOINTS,
  })
  .superRefine(refuseFailpoints);
export type OperatorConfig = z.infer<typeof operatorSchema>;

/**
 * Reads the configuration of operators' commands that use only the database: its URL, and for some the encryption keys.
 * Uses the environment if it names a database, otherwise the stack running on `DATA_DIR`.
 */
export function readOperatorConfig(): OperatorConfig {
  const env = withFiles(process.env);
  return parse(operatorSchema, env.DATABASE_URL ? env : readRunning());
}

const verificationSchema = z
  .object({ ...databases, ...storage, ...sealing })
  .partial({ DATABASE_URL: true })
  .superRefine(complainAboutStorage);

/** The names of all variables that `npm run verify` reads. */
export const verificationVariables: readonly string[] = Object.keys(verificationSchema.shape);

export interface VerificationConfig extends z.infer<typeof verificationSchema> {
  /** URL of the reader role when READER_DATABASE_URL is set, otherwise DATABASE_URL. */
  database: string;
}

/**
 * Reads the configuration of `npm run verify`: a database to read, the object store, and the seal keys. Uses the
 * environment if it names a database, otherwise the stack running on `DATA_DIR`.
 */
export function readVerificationConfig(): VerificationConfig {
  const env = withFiles(process.env);
  const config = parse(verificationSchema, env.READER_DATABASE_URL || env.DATABASE_URL ? env : readRunning());
  const database = must(config.READER_DATABASE_URL ?? config.DATABASE_URL, 'a database is configured');
  return { ...config, database };
}

const archiveSchema = z
  .object({
    NODE_ENV: environment,
    ...databases,
    ...storage,
    /** Full months after which a month is archived; if unset, nothing is archived. */
    ARCHIVE_AFTER_MONTHS: z.coerce.number().int().min(4).max(1200).optional(),
    FAILPOINTS: schema.shape.FAILPOINTS,
  })
  .partial({ DATABASE_URL: true })
  .superRefine(refuseFailpoints)
  .superRefine(complainAboutStorage);

export interface ArchiveConfig extends z.infer<typeof archiveSchema> {
  /** URL of the schema's owner. */
  owner: string;
}

/** Reads the configuration for archiving and restoring months: the database as its owner, and the object store. */
export function readArchiveConfig(env: NodeJS.ProcessEnv = process.env): ArchiveConfig {
  const config = parse(archiveSchema, withFiles(env));
  return { ...config, owner: ownersUrl('DATABASE_URL', config.MIGRATION_DATABASE_URL ?? config.DATABASE_URL) };
}

/** Returns the database URL for manual queries: READER_DATABASE_URL if set, otherwise DATABASE_URL. */
export function readDatabaseToRead(): string {
  const env = withFiles(process.env);
  const config = parse(
    z.object(databases).partial(),
    env.READER_DATABASE_URL || env.DATABASE_URL ? env : readRunning(),
  );
  return must(config.READER_DATABASE_URL ?? config.DATABASE_URL, 'a database is configured');
}

/** Reads Temporal's address for its CLI from the environment, otherwise from the stack running on `DATA_DIR`. */
export function readTemporalPlace(): { TEMPORAL_ADDRESS: string; TEMPORAL_NAMESPACE: string } {
  const { TEMPORAL_ADDRESS = '', TEMPORAL_NAMESPACE = 'default' } = process.env.TEMPORAL_ADDRESS
    ? process.env
    : readRunning();
  return { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE };
}

/** Reads the environment of the stack running on `DATA_DIR`. */
function readRunning(): Record<string, string> {
  const file = join(dataDirectory(), 'environment.json');
  let running: { pid: number; environment: Record<string, string> };
  try {
    running = JSON.parse(readFileSync(file, 'utf8'));
    process.kill(running.pid, 0);
  } catch {
    throw new ConfigError(
      `No stack runs on ${dataDirectory()} and DATABASE_URL is not set: start one with "npm start", or name a database.`,
    );
  }
  return running.environment;
}
