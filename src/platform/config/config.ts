import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { must } from '../../shared/assert.ts';
import { ConfigError, errorCodeOf } from '../../shared/errors.ts';
import { isMoney } from '../../shared/money.ts';
import { complainOfDatabaseUrl, databaseVariables } from '../database/database-tls.ts';
import { complaintsAbout, type TemporalEnvironment } from './connection-options.ts';
import { stepQueues } from './step-queues.ts';

/** Keys of 32 bytes with their ids: `id:base64(32 bytes)`, comma separated. */
const namedKeys = z
  .string()
  .transform((text, ctx) =>
    text.split(',').map((entry) => {
      const [id, secret] = entry.trim().split(':', 2);
      const bytes = Buffer.from(secret ?? '', 'base64');
      if (!id || !/^[\w-]{1,32}$/.test(id) || bytes.length !== 32) {
        ctx.addIssue({ code: 'custom', message: 'each entry is id:base64 of 32 bytes, separated by commas' });
      }
      return { id: id ?? '', key: new Uint8Array(bytes) };
    }),
  )
  .refine((keys) => new Set(keys.map(({ id }) => id)).size === keys.length, 'key ids must differ');

const databaseUrl = z.url({ protocol: /^postgres(ql)?$/ });
const environment = z.enum(['production', 'development', 'test']).default('production');
const port = z.coerce.number().int().min(0).max(65_535);
const money = z.string().refine((text) => isMoney(text) && !text.startsWith('-'), 'is an amount of IDR');
const flag = z.enum(['true', 'false']).transform((value) => value === 'true');
const list = z.string().transform((text) =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== ''),
);

const databases = {
  DATABASE_URL: databaseUrl,
  MIGRATION_DATABASE_URL: databaseUrl.optional(),
  READER_DATABASE_URL: databaseUrl.optional(),
};

/** The database of the keys under which people are sealed. */
const keysDatabases = {
  KEYS_DATABASE_URL: databaseUrl,
  MIGRATION_KEYS_DATABASE_URL: databaseUrl.optional(),
};

/** The object store, for files and seals. */
const storage = {
  S3_ENDPOINT: z.url(),
  S3_PUBLIC_ENDPOINT: z.url().optional(),
  S3_REGION: z.string().min(1).default('us-east-1'),
  S3_BUCKET: z.string().min(3),
  /** Without a key the SDK's own credential chain is used: the role of the pod or machine, a profile, its variables. */
  S3_ACCESS_KEY_ID: z.string().min(1).optional(),
  S3_SECRET_ACCESS_KEY: z.string().min(1).optional(),
};

/** Half a key would be ignored, and the process would use another identity. */
function complainAboutStorage(
  env: { S3_ACCESS_KEY_ID?: string | undefined; S3_SECRET_ACCESS_KEY?: string | undefined },
  ctx: Complaints,
): void {
  if ((env.S3_ACCESS_KEY_ID === undefined) === (env.S3_SECRET_ACCESS_KEY === undefined)) return;
  const missing = env.S3_ACCESS_KEY_ID === undefined ? 'S3_ACCESS_KEY_ID' : 'S3_SECRET_ACCESS_KEY';
  ctx.addIssue({ code: 'custom', path: [missing], message: 'is needed beside the other one' });
}

/** Where Temporal is, and the TLS and credentials for reaching it; see `connection-options.ts`. */
const temporalServer = {
  TEMPORAL_ADDRESS: z.string().min(1),
  TEMPORAL_NAMESPACE: z.string().min(1).default('default'),
  TEMPORAL_TASK_QUEUE: z.string().min(1).default('payments'),
  TEMPORAL_TLS: flag.optional(),
  TEMPORAL_TLS_SERVER_NAME: z.string().optional(),
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: z.string().optional(),
  TEMPORAL_TLS_CLIENT_CERT_PATH: z.string().optional(),
  TEMPORAL_TLS_CLIENT_KEY_PATH: z.string().optional(),
  TEMPORAL_API_KEY: z.string().optional(),
};

const sealing = {
  /** The signing key of a worker that seals: the 32-byte Ed25519 seed. */
  SEAL_SIGNING_KEY: namedKeys.refine((keys) => keys.length === 1, 'is one key').optional(),
  /** Public keys for seals that other keys signed. */
  SEAL_VERIFICATION_KEYS: namedKeys.optional(),
};

/** The payment provider, or the sandbox in its place. */
const provider = {
  XENDIT_URL: z.url().default('https://api.xendit.co'),
  XENDIT_SECRET_KEY: z.string().regex(/^xnd_/, 'must start with xnd_'),
  XENDIT_CALLBACK_TOKEN: z.string().min(16),
  PROVIDER_CALLS_PER_MINUTE: z.coerce
    .number()
    .int()
    .refine((value) => value === 0 || (value >= 60 && value <= 1_000_000), 'is 0 (no limit) or at least 60')
    .default(0),
};

const logLevel = z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info');

const schema = z
  .object({
    NODE_ENV: environment,
    PORT: port.default(3000),
    /** Set by `npm start`, which nobody else on the network is to reach; every address without it. */
    LISTEN_ADDRESS: z.union([z.ipv4(), z.ipv6()]).optional(),
    WORKER_PORT: port.optional(),
    METRICS_PORT: port.optional(),
    MAX_CONNECTIONS: z.coerce.number().int().min(1).default(10_000),
    DRAIN_DELAY_SECONDS: z.coerce.number().int().min(0).max(10).default(0),
    DATA_DIR: z.string().min(1).default('.amanah'),
    PUBLIC_URL: z.url(),
    ALLOWED_ORIGINS: list.default([]),
    TRUST_PROXY: flag.optional(),
    LOG_LEVEL: logLevel,
    ...databases,
    ...keysDatabases,
    DATABASE_READ_URL: databaseUrl.optional(),
    DATABASE_POOL_SIZE: z.coerce.number().int().min(1).max(200).default(16),
    ...temporalServer,
    /**
     * Whether work is due when Temporal's timer fires, without asking the database's clock: its test server skips time.
     */
    TEMPORAL_SKIPS_TIME: flag.default(false),
    TEMPORAL_UI_URL: z.url().optional(),
    TEMPORAL_METRICS_PORT: port.optional(),
    WORKER_QUEUES: list.default([...stepQueues]).pipe(
      z
        .array(z.enum(stepQueues))
        .min(1)
        .refine((queues) => new Set(queues).size === queues.length, 'each once'),
    ),
    WORKER_DEPLOYMENT_NAME: z
      .string()
      .regex(/^[\w-]{1,100}$/, 'is letters, digits, _ and -')
      .optional(),
    WORKER_BUILD_ID: z
      .string()
      .regex(/^[\w.-]{1,100}$/, 'is letters, digits, _, . and -')
      .optional(),
    ...storage,
    ...provider,
    PAYOUT_RESEND_HOURS: z.coerce.number().int().min(0).max(720).default(24),
    /** Bodies of callbacks and webhooks are forgotten after this; for ever kept without it. */
    BODIES_KEPT_DAYS: z.coerce.number().int().min(30).max(36_500).optional(),
    /** The keys of partners' customers and beneficiaries are destroyed after this; for ever kept without it. */
    CUSTOMERS_KEPT_DAYS: z.coerce.number().int().min(400).max(36_500).optional(),
    BANK_ACCOUNT_WAIT_HOURS: z.coerce.number().int().min(0).max(720).default(24),
    ERASURE_WAIT_HOURS: z.coerce.number().int().min(0).max(8760).default(72),
    KEYS_BACKUP_DAYS: z.coerce.number().int().min(0).max(30).default(30),
    WITHDRAWAL_FEE: money.default('0'),
    WITHDRAWAL_DAILY_LIMIT: money.default('50000000'),
    DISBURSEMENT_APPROVAL_ABOVE: money.default('10000000'),
    AUTH_ISSUER: z.string().min(1).default('amanah'),
    AUTH_AUDIENCE: z.string().min(1).default('amanah'),
    AUTH_TOKEN_TTL_SECONDS: z.coerce.number().int().min(60).max(86_400).default(3600),
    AUTH_EXTERNAL_JWKS_URL: z.url().optional(),
    AUTH_EXTERNAL_ISSUER: z.string().min(1).optional(),
    AUTH_EXTERNAL_AUDIENCE: z.string().min(1).optional(),
    /** Newest first. */
    DATA_ENCRYPTION_KEYS: namedKeys,
    ...sealing,
    /** The mail server; without one mails wait. Its password, if it has one, stands in the URL. */
    SMTP_URL: z.url({ protocol: /^smtps?$/ }).optional(),
    MAIL_FROM: z
      .string()
      .regex(/^([^<>@\r\n]+ <[^<>@\s]+@[^<>@\s]+>|[^<>@\s]+@[^<>@\s]+)$/, 'is an address, or Name <address>')
      .optional(),
    WEBHOOK_ALLOW_LOOPBACK: flag.default(false),
    WEBHOOK_PORTS: list.pipe(z.array(z.coerce.number<string>().int().min(1).max(65_535))).default([]),
    RATE_LIMIT_REQUESTS_PER_10S: z.coerce.number().int().min(1).default(2000),
    RATE_LIMIT_SIGNUPS_PER_HOUR: z.coerce.number().int().min(1).max(100_000).optional(),
    UPLOADS_PER_USER: z.coerce.number().int().min(1).default(8),
    UPLOADS_IN_ALL: z.coerce.number().int().min(1).default(64),
    STORED_BYTES_PER_USER: z.coerce.number().int().min(0).default(10_737_418_240),
    WORKFLOW_BUNDLE: z.string().min(1).optional(),
    FAILPOINTS: z.string().optional(),
    OTEL_EXPORTER_OTLP_ENDPOINT: z.url().optional(),
  })
  .superRefine((env, ctx) => {
    if (env.NODE_ENV === 'production') {
      for (const name of ['WEBHOOK_ALLOW_LOOPBACK', 'FAILPOINTS', 'TEMPORAL_SKIPS_TIME'] as const) {
        if (env[name]) ctx.addIssue({ code: 'custom', path: [name], message: 'is refused in production' });
      }
      // Either wrong value fails silently: any caller's claimed address is believed, or everyone appears as the proxy.
      if (env.TRUST_PROXY === undefined) {
        ctx.addIssue({ code: 'custom', path: ['TRUST_PROXY'], message: 'must be true or false' });
      }
    }
    if (env.NODE_ENV === 'production') refuseUnsafe(env, ctx);
    if (env.AUTH_EXTERNAL_JWKS_URL && !env.AUTH_EXTERNAL_ISSUER) {
      ctx.addIssue({
        code: 'custom',
        path: ['AUTH_EXTERNAL_ISSUER'],
        message: 'is needed with AUTH_EXTERNAL_JWKS_URL',
      });
    }
    if (env.SMTP_URL && !env.MAIL_FROM) {
      ctx.addIssue({ code: 'custom', path: ['MAIL_FROM'], message: 'is needed with SMTP_URL' });
    }
    complainAboutTls(env, ctx);
    complainAboutStorage(env, ctx);
    if (env.DATABASE_READ_URL !== undefined && placeOf(env.DATABASE_READ_URL) === placeOf(env.DATABASE_URL)) {
      ctx.addIssue({ code: 'custom', path: ['DATABASE_READ_URL'], message: 'names the database of DATABASE_URL' });
    }
    if (placeOf(env.KEYS_DATABASE_URL) === placeOf(env.DATABASE_URL)) {
      ctx.addIssue({ code: 'custom', path: ['KEYS_DATABASE_URL'], message: 'names the database of DATABASE_URL' });
    }
    if ((env.WORKER_DEPLOYMENT_NAME === undefined) !== (env.WORKER_BUILD_ID === undefined)) {
      const missing = env.WORKER_BUILD_ID === undefined ? 'WORKER_BUILD_ID' : 'WORKER_DEPLOYMENT_NAME';
      ctx.addIssue({ code: 'custom', path: [missing], message: 'is needed beside the other one' });
    }
  });

/** Which database of which server a URL names. */
const placeOf = (url: string): string => {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
};

function complainAboutTls(env: TemporalEnvironment, ctx: Complaints): void {
  for (const { name, message } of complaintsAbout(env)) ctx.addIssue({ code: 'custom', path: [name], message });
}

interface Complaints {
  addIssue(issue: { code: 'custom'; path: string[]; message: string }): void;
}

type Checked = Pick<
  z.infer<typeof schema>,
  | 'ALLOWED_ORIGINS'
  | 'AUTH_EXTERNAL_JWKS_URL'
  | 'AUTH_EXTERNAL_ISSUER'
  | 'XENDIT_URL'
  | 'DATA_ENCRYPTION_KEYS'
  | 'SEAL_SIGNING_KEY'
>;

/** The placeholders that `.env.example` has for secrets. */
const sampleValues = /change-me|^xnd_production_\.\.\.$/;
const secretVariables = [
  'DATABASE_URL',
  'KEYS_DATABASE_URL',
  'S3_SECRET_ACCESS_KEY',
  'XENDIT_SECRET_KEY',
  'XENDIT_CALLBACK_TOKEN',
] as const;

/**
 * Reports what a production deployment must not run with: plain http, all-zero keys, the `null` origin, sample secrets.
 */
function refuseUnsafe(
  env: Checked & Partial<Record<(typeof secretVariables)[number], string | undefined>>,
  ctx: Complaints,
): void {
  const complain = (name: string, message: string) => ctx.addIssue({ code: 'custom', path: [name], message });
  for (const name of ['AUTH_EXTERNAL_JWKS_URL', 'AUTH_EXTERNAL_ISSUER', 'XENDIT_URL'] as const) {
    if (env[name] && /^http:/i.test(env[name])) complain(name, 'must be https in production');
  }
  if (env.ALLOWED_ORIGINS.includes('null')) complain('ALLOWED_ORIGINS', 'must not name null, which is any file');
  if (env.ALLOWED_ORIGINS.some((origin) => origin.endsWith(':*'))) complain('ALLOWED_ORIGINS', 'must name its ports');
  for (const name of ['DATA_ENCRYPTION_KEYS', 'SEAL_SIGNING_KEY'] as const) {
    if (env[name]?.some(({ key }) => key.every((byte) => byte === 0))) complain(name, 'a key of zeros is none');
  }
  for (const name of secretVariables) {
    if (sampleValues.test(env[name] ?? '')) complain(name, 'is the sample of .env.example');
  }
}

/** The names of all variables that a process reads. */
export const configVariables: readonly string[] = Object.keys(schema.shape);

export type Config = z.infer<typeof schema>;

/**
 * An environment in which the values of files stand: of each variable that a process reads, `<name>_FILE` may name a file
 * that holds it, as container platforms mount secrets; the line feed at its end does not count. Throws ConfigError for a
 * file that cannot be read, and for a variable that is also set itself.
 */
export function withFiles(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const complaints: string[] = [];
  const whole = { ...env };
  for (const name of new Set([...configVariables, ...databaseVariables])) {
    const path = env[`${name}_FILE`];
    if (!path) continue;
    try {
      if (env[name]) complaints.push(`${name} and ${name}_FILE are both set`);
      else whole[name] = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    } catch (error) {
      complaints.push(`${name}_FILE cannot be read: ${String(errorCodeOf(error))}`);
    }
  }
  if (complaints.length > 0) throw new ConfigError(`The configuration cannot be used: ${complaints.join('; ')}.`);
  return whole;
}

/**
 * Reads and checks the whole environment at once. `needed` names optional variables that this process requires. Throws
 * ConfigError naming everything wrong.
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env, needed: readonly (keyof Config)[] = []): Config {
  return parse(schema, withFiles(env), needed);
}

function parse<S extends z.ZodType>(shape: S, env: NodeJS.ProcessEnv, needed: readonly string[] = []): z.infer<S> {
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const isProduction = (present.NODE_ENV ?? 'production') === 'production';
  const unusable = databaseVariables.flatMap((name) => {
    const complaint = complainOfDatabaseUrl(present[name] ?? '', { isProduction });
    return complaint === null ? [] : [`${name} is malformed: ${complaint}`];
  });
  const result = shape.safeParse(present);
  const missing = needed.filter((name) => present[name] === undefined).map((name) => `${name} is missing`);
  const complaints = [...missing, ...unusable];
  if (result.success && complaints.length === 0) return result.data;
  for (const issue of result.error?.issues ?? []) {
    const name = String(issue.path[0]);
    complaints.push(env[name] === undefined ? `${name} is missing` : `${name} is malformed: ${issue.message}`);
  }
  throw new ConfigError(`The configuration cannot be used: ${complaints.join('; ')}.`);
}

const migrationSchema = z
  .object({ NODE_ENV: environment, ...databases, ...keysDatabases })
  .partial({ DATABASE_URL: true, KEYS_DATABASE_URL: true })
  .superRefine((env, ctx) => {
    if (env.NODE_ENV !== 'production') return;
    // The roles are created with the passwords in these URLs.
    for (const name of [
      'DATABASE_URL',
      'MIGRATION_DATABASE_URL',
      'READER_DATABASE_URL',
      'KEYS_DATABASE_URL',
      'MIGRATION_KEYS_DATABASE_URL',
    ] as const) {
      if (sampleValues.test(env[name] ?? '')) {
        ctx.addIssue({ code: 'custom', path: [name], message: 'is the sample of .env.example' });
      }
    }
  });

export interface MigrationConfig {
  /** URL of the schema's owner. */
  owner: string;
  /** URLs with the passwords for the roles that are created: the application's and the readers'. */
  application: string | undefined;
  reader: string | undefined;
  /** URL of the owner of the database of the keys, and of the application there. */
  keysOwner: string;
  keysApplication: string | undefined;
}

/**
 * What `npm run migrate` needs, and nothing else. The owners' URLs are MIGRATION_DATABASE_URL, or else DATABASE_URL, and
 * MIGRATION_KEYS_DATABASE_URL, or else KEYS_DATABASE_URL.
 */
export function readMigrationConfig(env: NodeJS.ProcessEnv = process.env): MigrationConfig {
  const config = parse(migrationSchema, withFiles(env));
  const owner = config.MIGRATION_DATABASE_URL ?? config.DATABASE_URL;
  if (owner === undefined) {
    throw new ConfigError('The configuration cannot be used: MIGRATION_DATABASE_URL and DATABASE_URL are missing.');
  }
  const keysOwner = config.MIGRATION_KEYS_DATABASE_URL ?? config.KEYS_DATABASE_URL;
  if (keysOwner === undefined) {
    throw new ConfigError(
      'The configuration cannot be used: MIGRATION_KEYS_DATABASE_URL and KEYS_DATABASE_URL are missing.',
    );
  }
  return {
    owner,
    application: config.DATABASE_URL,
    reader: config.READER_DATABASE_URL,
    keysOwner,
    keysApplication: config.KEYS_DATABASE_URL,
  };
}

/** The data directory, where a command finds the credentials of the running stack. */
export const dataDirectory = (): string => resolve(process.env.DATA_DIR || '.amanah');

const reconciliationSchema = z
  .object({ LOG_LEVEL: logLevel, DATABASE_URL: databaseUrl, ...temporalServer, ...provider })
  .superRefine(complainAboutTls);

/**
 * What `npm run reconcile` needs, and nothing else: the database, Temporal and the provider. Read from the environment
 * when it names a database, otherwise from the stack that runs on `DATA_DIR`. Throws ConfigError when there is none.
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
 * What operators' commands need that use the database alone: the database, and for some the encryption keys. Read from
 * the environment when it names a database, otherwise from the stack that runs on `DATA_DIR`.
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
 * What `npm run verify` needs, and nothing else: a database to read, the object store, and the seal keys. Read from the
 * environment when it names a database, otherwise from the stack that runs on `DATA_DIR`.
 */
export function readVerificationConfig(): VerificationConfig {
  const env = withFiles(process.env);
  const config = parse(verificationSchema, env.READER_DATABASE_URL || env.DATABASE_URL ? env : readRunning());
  const database = must(config.READER_DATABASE_URL ?? config.DATABASE_URL, 'a database is named');
  return { ...config, database };
}

const archiveSchema = z
  .object({
    NODE_ENV: environment,
    ...databases,
    ...storage,
    /** How many whole months a month is kept after its end; nothing is archived without it. */
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

/** What archiving and restoring months need, and nothing else: the database as its owner, and the object store. */
export function readArchiveConfig(env: NodeJS.ProcessEnv = process.env): ArchiveConfig {
  const config = parse(archiveSchema, withFiles(env));
  const owner = config.MIGRATION_DATABASE_URL ?? config.DATABASE_URL;
  if (owner === undefined) {
    throw new ConfigError('The configuration cannot be used: MIGRATION_DATABASE_URL and DATABASE_URL are missing.');
  }
  return { ...config, owner };
}

/** The database URL for people who read by hand: the reader role's when READER_DATABASE_URL is set. */
export function readDatabaseToRead(): string {
  const env = withFiles(process.env);
  const { NODE_ENV, READER_DATABASE_URL, DATABASE_URL } =
    env.READER_DATABASE_URL || env.DATABASE_URL ? env : readRunning();
  const config = parse(z.object(databases).partial(), { NODE_ENV, READER_DATABASE_URL, DATABASE_URL });
  return must(config.READER_DATABASE_URL ?? config.DATABASE_URL, 'a database is named');
}

/** Where Temporal is, for its own CLI: from the environment, otherwise from the stack that runs on `DATA_DIR`. */
export function readTemporalPlace(): { TEMPORAL_ADDRESS: string; TEMPORAL_NAMESPACE: string } {
  const { TEMPORAL_ADDRESS = '', TEMPORAL_NAMESPACE = 'default' } = process.env.TEMPORAL_ADDRESS
    ? process.env
    : readRunning();
  return { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE };
}

/** The environment of the stack that runs on `DATA_DIR`. */
function readRunning(): Record<string, string> {
  const file = join(dataDirectory(), 'environment.json');
  let running: { pid: number; environment: Record<string, string> };
  try {
    running = JSON.parse(readFileSync(file, 'utf8'));
    process.kill(running.pid, 0);
  } catch {
    throw new ConfigError(
      `No stack runs on ${dataDirectory()} and DATABASE_URL is not set: begin one with "npm start", or name a database.`,
    );
  }
  return running.environment;
}
