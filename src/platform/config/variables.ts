import { z } from 'zod';
import { isMoney } from '../../shared/money.ts';
import { complaintsAbout, type TemporalEnvironment } from './connection-options.ts';

export interface Complaints {
  addIssue(issue: { code: 'custom'; path: string[]; message: string }): void;
}

/** Keys of 32 bytes with their ids: `id:base64(32 bytes)`, comma separated. */
export const namedKeys = z
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

export const databaseUrl = z.url({ protocol: /^postgres(ql)?$/ });
/** Rejects a user or password in an address: S3 clients ignore it, `fetch` throws, and links would show it. */
export const hasNoPassword = [(text: string) => !/^\w+:\/\/[^/?#]*@/.test(text), 'must not have a user'] as const;
/** An http or https address. A query or a fragment would be dropped, so both are rejected. */
export const endpointUrl = z
  .url({ protocol: /^https?$/ })
  .refine((text) => !/[?#]/.test(text), 'must not have a query or a fragment');
export const webUrl = endpointUrl.refine(...hasNoPassword);
export const environment = z.enum(['production', 'development', 'test']).default('production');
export const port = z.coerce.number().int().min(0).max(65_535);
export const money = z.string().refine((text) => isMoney(text) && !text.startsWith('-'), 'is an amount of IDR');
export const flag = z.enum(['true', 'false']).transform((value) => value === 'true');
export const list = z.string().transform((text) =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== ''),
);

export const databases = {
  DATABASE_URL: databaseUrl,
  MIGRATION_DATABASE_URL: databaseUrl.optional(),
  READER_DATABASE_URL: databaseUrl.optional(),
};

/** The database of people's encryption keys. */
export const keysDatabases = {
  KEYS_DATABASE_URL: databaseUrl,
  MIGRATION_KEYS_DATABASE_URL: databaseUrl.optional(),
};

/** The object store, for files and seals. */
export const storage = {
  S3_ENDPOINT: webUrl,
  S3_PUBLIC_ENDPOINT: webUrl.optional(),
  S3_REGION: z.string().min(1).default('us-east-1'),
  S3_BUCKET: z.string().min(3),
  /** Without a key the SDK uses its own credential chain: the pod's or machine's role, a profile, its own variables. */
  S3_ACCESS_KEY_ID: z.string().min(1).optional(),
  S3_SECRET_ACCESS_KEY: z.string().min(1).optional(),
};

/** Reports an incomplete key, which would silently be ignored and leave the process with another identity. */
export function complainAboutStorage(
  env: { S3_ACCESS_KEY_ID?: string | undefined; S3_SECRET_ACCESS_KEY?: string | undefined },
  ctx: Complaints,
): void {
  if ((env.S3_ACCESS_KEY_ID === undefined) === (env.S3_SECRET_ACCESS_KEY === undefined)) return;
  const missing = env.S3_ACCESS_KEY_ID === undefined ? 'S3_ACCESS_KEY_ID' : 'S3_SECRET_ACCESS_KEY';
  ctx.addIssue({ code: 'custom', path: [missing], message: 'must be set if its counterpart is' });
}

/** Temporal's address, TLS and credentials; see `connection-options.ts`. */
export const temporalServer = {
  TEMPORAL_ADDRESS: z
    .string()
    .regex(/^(\[[\da-f:.]+\]|[\w.-]+):\d{1,5}$/i, 'is host:port')
    .refine((text) => Number(text.split(':').at(-1)) <= 65_535, 'is host:port, up to 65535'),
  TEMPORAL_NAMESPACE: z.string().min(1).default('default'),
  TEMPORAL_TASK_QUEUE: z.string().min(1).default('payments'),
  TEMPORAL_TLS: flag.optional(),
  TEMPORAL_TLS_SERVER_NAME: z.string().optional(),
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: z.string().optional(),
  TEMPORAL_TLS_CLIENT_CERT_PATH: z.string().optional(),
  TEMPORAL_TLS_CLIENT_KEY_PATH: z.string().optional(),
  TEMPORAL_API_KEY: z.string().optional(),
};

export const sealing = {
  /** The key with which a worker signs seals: the 32-byte Ed25519 seed. */
  SEAL_SIGNING_KEY: namedKeys.refine((keys) => keys.length === 1, 'is one key').optional(),
  /** Public keys for seals that other keys signed. */
  SEAL_VERIFICATION_KEYS: namedKeys.optional(),
};

/** The payment provider, or the sandbox in its place. */
export const provider = {
  XENDIT_URL: webUrl.default('https://api.xendit.co'),
  XENDIT_SECRET_KEY: z.string().regex(/^xnd_/, 'must start with xnd_'),
  XENDIT_CALLBACK_TOKEN: z.string().min(16),
  PROVIDER_CALLS_PER_MINUTE: z.coerce
    .number()
    .int()
    .refine((value) => value === 0 || (value >= 60 && value <= 1_000_000), 'must be 0 (no limit) or at least 60')
    .default(0),
};

export const logLevel = z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info');

export function complainAboutTls(env: TemporalEnvironment, ctx: Complaints): void {
  for (const { name, message } of complaintsAbout(env)) ctx.addIssue({ code: 'custom', path: [name], message });
}

/** The placeholders for secrets in `.env.example`. */
export const sampleValues = /change-me|^xnd_production_\.\.\.$/;
