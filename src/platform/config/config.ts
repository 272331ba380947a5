import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ConfigError, errorCodeOf } from '../../shared/errors.ts';
import { complainOfDatabaseUrl, databaseVariables } from '../database/database-tls.ts';
import { stepQueues } from './step-queues.ts';
import {
  type Complaints,
  complainAboutStorage,
  complainAboutTls,
  databases,
  databaseUrl,
  endpointUrl,
  environment,
  flag,
  hasNoPassword,
  keysDatabases,
  list,
  logLevel,
  money,
  namedKeys,
  port,
  provider,
  sampleValues,
  sealing,
  storage,
  temporalServer,
  webUrl,
} from './variables.ts';

const otlpProtocol = z.enum(['http/protobuf', 'http/json']);
/** The samplers of OpenTelemetry's specification that need no other server. */
const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** Every variable of API and worker. */
export const schema = z
  .object({
    NODE_ENV: environment,
    PORT: port.default(3000),
    /** Set by `npm start`, which must not be reachable from the network; by default every address. */
    LISTEN_ADDRESS: z.union([z.ipv4(), z.ipv6()]).optional(),
    WORKER_PORT: port.optional(),
    METRICS_PORT: port.optional(),
    MAX_CONNECTIONS: z.coerce.number().int().min(1).default(10_000),
    DRAIN_DELAY_SECONDS: z.coerce.number().int().min(0).max(10).default(0),
    DATA_DIR: z.string().min(1).default('.amanah'),
    /** Without a path: links start with its origin. */
    PUBLIC_URL: webUrl.refine((text) => !/^\w+:\/\/[^/]+\/./.test(text), 'must not have a path'),
    ALLOWED_ORIGINS: list
      .pipe(
        z.array(
          z
            .string()
            .regex(/^(null|[a-z][\w+.-]*:\/\/[^/?#@]+\/?)$/i, 'is a list of origins, such as https://app.example.org'),
        ),
      )
      .default([]),
    TRUST_PROXY: flag.optional(),
    LOG_LEVEL: logLevel,
    ...databases,
    ...keysDatabases,
    DATABASE_READ_URL: databaseUrl.optional(),
    DATABASE_POOL_SIZE: z.coerce.number().int().min(1).max(200).default(16),
    ...temporalServer,
    /**
     * Whether work counts as due when Temporal's timer fires, regardless of the database's clock, because Temporal's
     * test server skips time.
     */
    TEMPORAL_SKIPS_TIME: flag.default(false),
    TEMPORAL_UI_URL: webUrl.optional(),
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
    /** Bodies of callbacks and webhooks are deleted after this; without it they are kept forever. */
    BODIES_KEPT_DAYS: z.coerce.number().int().min(30).max(36_500).optional(),
    /** The keys of partners' customers and beneficiaries are destroyed after this; without it they are kept forever. */
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
    AUTH_EXTERNAL_JWKS_URL: z
      .url({ protocol: /^https?$/ })
      .refine(...hasNoPassword)
      .optional(),
    AUTH_EXTERNAL_ISSUER: z.string().min(1).optional(),
    AUTH_EXTERNAL_AUDIENCE: z.string().min(1).optional(),
    /** Newest first. */
    DATA_ENCRYPTION_KEYS: namedKeys,
    ...sealing,
    /** The mail server, with any password; if unset, emails stay queued. */
    SMTP_URL: z
      .url({ protocol: /^smtps?$/ })
      // A query would be options of the library, which can turn encryption off.
      .refine((text) => /^\w+:\/\/[^/?#]*\/?$/.test(text), 'must not have a path or parameters')
      .optional(),
    MAIL_FROM: z
      .string()
      .regex(/^([^<>@\r\n]+ <[^<>@\s]+@[^<>@\s]+>|[^<>@\s]+@[^<>@\s]+)$/, 'is an address, or Name <address>')
      .optional(),
    /** The token required from the sender of bounce reports. */
    MAIL_BOUNCES_TOKEN: z.string().min(16).optional(),
    WEBHOOK_ALLOW_LOOPBACK: flag.default(false),
    WEBHOOK_PORTS: list.pipe(z.array(z.coerce.number<string>().int().min(1).max(65_535))).default([]),
    RATE_LIMIT_REQUESTS_PER_10S: z.coerce.number().int().min(1).default(2000),
    RATE_LIMIT_SIGNUPS_PER_HOUR: z.coerce.number().int().min(1).max(100_000).optional(),
    UPLOADS_PER_USER: z.coerce.number().int().min(1).default(8),
    UPLOADS_IN_ALL: z.coerce.number().int().min(1).default(64),
    STORED_BYTES_PER_USER: z.coerce.number().int().min(0).default(10_737_418_240),
    WORKFLOW_BUNDLE: z.string().min(1).optional(),
    FAILPOINTS: z.string().optional(),
    OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none']).default('otlp'),
    OTEL_EXPORTER_OTLP_PROTOCOL: otlpProtocol.default('http/protobuf'),
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: otlpProtocol.optional(),
    OTEL_EXPORTER_OTLP_ENDPOINT: endpointUrl.optional(),
    OTEL_EXPORTER_OTLP_HEADERS: z.string().optional(),
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpointUrl.optional(),
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: z.string().optional(),
    OTEL_TRACES_SAMPLER: z.enum(samplers).default('parentbased_always_on'),
    OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
    OTEL_SERVICE_NAME: z.string().optional(),
    OTEL_RESOURCE_ATTRIBUTES: z.string().optional(),
    // Per OpenTelemetry's specification, any value but `true` is false.
    OTEL_SDK_DISABLED: z
      .string()
      .default('false')
      .transform((value) => value.toLowerCase() === 'true'),
  })
  .superRefine((env, ctx) => {
    if (env.NODE_ENV === 'production') {
      for (const name of ['WEBHOOK_ALLOW_LOOPBACK', 'FAILPOINTS', 'TEMPORAL_SKIPS_TIME'] as const) {
        if (env[name]) ctx.addIssue({ code: 'custom', path: [name], message: 'is refused in production' });
      }
      // A wrong value fails silently: either any claimed address is trusted, or every caller has the proxy's address.
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
    const place = placeOf(env.DATABASE_URL);
    for (const name of ['DATABASE_READ_URL', 'KEYS_DATABASE_URL'] as const) {
      if (place !== null && env[name] !== undefined && placeOf(env[name]) === place) {
        ctx.addIssue({ code: 'custom', path: [name], message: 'names the database of DATABASE_URL' });
      }
    }
    if ((env.WORKER_DEPLOYMENT_NAME === undefined) !== (env.WORKER_BUILD_ID === undefined)) {
      const missing = env.WORKER_BUILD_ID === undefined ? 'WORKER_BUILD_ID' : 'WORKER_DEPLOYMENT_NAME';
      ctx.addIssue({ code: 'custom', path: [missing], message: 'must be set if its counterpart is' });
    }
  });

/** The server and database that a URL names; null if it is malformed, which is reported elsewhere. */
const placeOf = (url: string): string | null => {
  if (!URL.canParse(url)) return null;
  const { hostname, port: at, pathname } = new URL(url);
  return `${hostname.toLowerCase()}:${at || '5432'}${pathname}`;
};

type Checked = Pick<
  z.infer<typeof schema>,
  | 'ALLOWED_ORIGINS'
  | 'AUTH_EXTERNAL_JWKS_URL'
  | 'AUTH_EXTERNAL_ISSUER'
  | 'XENDIT_URL'
  | 'DATA_ENCRYPTION_KEYS'
  | 'SEAL_SIGNING_KEY'
>;

const secretVariables = [
  'DATABASE_URL',
  'KEYS_DATABASE_URL',
  'S3_SECRET_ACCESS_KEY',
  'XENDIT_SECRET_KEY',
  'XENDIT_CALLBACK_TOKEN',
  'MAIL_BOUNCES_TOKEN',
] as const;

/** Reports settings that are unsafe in production: plain http, all-zero keys, the `null` origin, sample secrets. */
function refuseUnsafe(
  env: Checked & Partial<Record<(typeof secretVariables)[number], string | undefined>>,
  ctx: Complaints,
): void {
  const complain = (name: string, message: string) => ctx.addIssue({ code: 'custom', path: [name], message });
  for (const name of ['AUTH_EXTERNAL_JWKS_URL', 'AUTH_EXTERNAL_ISSUER', 'XENDIT_URL'] as const) {
    if (env[name] && /^http:/i.test(env[name])) complain(name, 'must be https in production');
  }
  if (env.ALLOWED_ORIGINS.includes('null'))
    complain('ALLOWED_ORIGINS', 'must not contain null, the origin of every ' + 'file');
  if (env.ALLOWED_ORIGINS.some((origin) => origin.endsWith(':*'))) complain('ALLOWED_ORIGINS', 'must name ports');
  for (const name of ['DATA_ENCRYPTION_KEYS', 'SEAL_SIGNING_KEY'] as const) {
    if (env[name]?.some(({ key }) => key.every((byte) => byte === 0))) complain(name, 'must not be all zeros');
  }
  for (const name of secretVariables) {
    if (sampleValues.test(env[name] ?? '')) complain(name, 'is the sample value from .env.example');
  }
}

/** The names of all variables that a process reads. */
export const configVariables: readonly string[] = Object.keys(schema.shape);

export type Config = z.infer<typeof schema>;

/**
 * Returns the environment with values read from files: `<name>_FILE` may name a file with the value of `<name>`, as
 * container platforms mount secrets. Ignores the trailing line feed. Throws ConfigError if a file is unreadable or both
 * variables are set.
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

/** Parses variables; empty ones count as unset. Throws ConfigError naming everything wrong. */
export function parse<S extends z.ZodType>(
  shape: S,
  env: NodeJS.ProcessEnv,
  needed: readonly string[] = [],
): z.infer<S> {
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
