import { resolve } from 'node:path';
import { z } from 'zod';
import { StackError } from './stack-error.ts';

const port = z.coerce.number().int().min(0).max(65_535);
const text = z.string().min(1).optional();

/** The default data directory of a stack, unless DATA_DIR is set. */
export const defaultDataDirectory = '.amanah';

/** The variables that `npm start` itself reads; the rest of the environment is passed to API and worker unchanged. */
const schema = z.object({
  DATA_DIR: z.string().min(1).default(defaultDataDirectory),
  PORT: port.default(3000),
  WORKER_PORT: port.optional(),
  LISTEN_ADDRESS: text,
  TEMPORAL_UI_PORT: port.default(8233),
  TEMPORAL_UI_URL: text,
  PUBLIC_URL: text,
  ALLOWED_ORIGINS: text,
  DATABASE_URL: text,
  MIGRATION_DATABASE_URL: text,
  READER_DATABASE_URL: text,
  KEYS_DATABASE_URL: text,
  MIGRATION_KEYS_DATABASE_URL: text,
  TEMPORAL_ADDRESS: text,
  S3_ENDPOINT: text,
  S3_BUCKET: text,
  S3_ACCESS_KEY_ID: text,
  S3_SECRET_ACCESS_KEY: text,
  XENDIT_URL: text,
  XENDIT_SECRET_KEY: text,
  XENDIT_CALLBACK_TOKEN: text,
  DATA_ENCRYPTION_KEYS: text,
  SEAL_SIGNING_KEY: text,
  BANK_ACCOUNT_WAIT_HOURS: text,
  WEBHOOK_ALLOW_LOOPBACK: text,
  SMTP_URL: text,
  MAIL_FROM: text,
});

export type Settings = z.infer<typeof schema>;

/** The settings of this start. Throws StackError naming a variable that is malformed, or that another one requires. */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const read = schema.safeParse(present);
  if (!read.success) {
    const complaints = read.error.issues.map(({ path, message }) => `${path.join('.')} is malformed: ${message}`);
    throw new StackError(`The stack cannot start: ${complaints.join('; ')}.`);
  }
  const settings = read.data;
  requireTogether(settings, 'S3_ENDPOINT', ['S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY']);
  requireTogether(settings, 'MIGRATION_DATABASE_URL', ['DATABASE_URL']);
  requireTogether(settings, 'READER_DATABASE_URL', ['DATABASE_URL']);
  requireTogether(settings, 'DATABASE_URL', ['KEYS_DATABASE_URL']);
  requireTogether(settings, 'KEYS_DATABASE_URL', ['DATABASE_URL']);
  requireTogether(settings, 'MIGRATION_KEYS_DATABASE_URL', ['KEYS_DATABASE_URL']);
  requireTogether(settings, 'XENDIT_URL', ['XENDIT_SECRET_KEY']);
  requireTogether(settings, 'XENDIT_SECRET_KEY', ['XENDIT_URL']);
  return { ...settings, DATA_DIR: resolve(settings.DATA_DIR) };
}

function requireTogether(settings: Settings, given: keyof Settings, needed: (keyof Settings)[]): void {
  if (settings[given] === undefined) return;
  const missing = needed.filter((name) => settings[name] === undefined);
  if (missing.length > 0) throw new StackError(`${given} is set, so ${missing.join(' and ')} must be set too.`);
}
