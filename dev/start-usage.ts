import type { Settings } from './settings.ts';
import { StackError } from './stack-error.ts';

const variables: Record<keyof Settings, string> = {
  DATA_DIR: 'the data directory (.amanah)',
  LISTEN_ADDRESS: 'where the API and the worker listen (127.0.0.1)',
  PORT: 'port of the API (3000); 0 picks a free one, stored in the data directory',
  WORKER_PORT: "port of the worker's metrics (a free one, stored in the data directory)",
  TEMPORAL_UI_PORT: "port of Temporal's web UI (8233); 0 picks a free one, stored in the data directory",
  PUBLIC_URL: 'URL at which others reach the API (http://localhost:PORT)',
  ALLOWED_ORIGINS: 'origins whose pages may call the API from a browser (http://localhost:*)',
  DATABASE_URL: 'your PostgreSQL instead of ours',
  MIGRATION_DATABASE_URL: 'your PostgreSQL as its owner, if DATABASE_URL has another role',
  READER_DATABASE_URL: 'your PostgreSQL as the read-only role, with DATABASE_URL',
  KEYS_DATABASE_URL: 'the keys database beside yours, with DATABASE_URL',
  MIGRATION_KEYS_DATABASE_URL: 'the keys database as its owner, if KEYS_DATABASE_URL has another role',
  TEMPORAL_ADDRESS: 'your Temporal server instead of ours',
  TEMPORAL_UI_URL: "the address of that server's web UI",
  S3_ENDPOINT: 'your S3 server instead of ours',
  S3_ACCESS_KEY_ID: 'its access key id, with S3_ENDPOINT',
  S3_SECRET_ACCESS_KEY: 'its secret access key, with S3_ENDPOINT',
  S3_BUCKET: 'an existing bucket (amanah)',
  XENDIT_URL: 'the payment provider instead of the sandbox',
  XENDIT_SECRET_KEY: 'its secret key, with XENDIT_URL',
  XENDIT_CALLBACK_TOKEN: 'the token of its callbacks (generated at the first start)',
  DATA_ENCRYPTION_KEYS: 'keys for encryption at rest, id:key, newest first (generated at the first start)',
  SEAL_SIGNING_KEY: 'key that signs the seals, id:key (generated at the first start)',
  BANK_ACCOUNT_WAIT_HOURS: 'hours before a new bank account becomes usable (0)',
  SMTP_URL: 'your mail server instead of the sandbox, which catches mail',
  MAIL_FROM: 'sender of mails, with SMTP_URL',
  WEBHOOK_ALLOW_LOOPBACK: 'whether webhooks may be sent to this machine (true)',
};

/** The output of `npm start -- --help`. */
export function describeUsage(): string {
  const width = Math.max(...Object.keys(variables).map((name) => name.length)) + 2;
  const rows = Object.entries(variables).map(([name, meaning]) => `  ${name.padEnd(width)}${meaning}`);
  return `npm start

Starts the whole product in this terminal: PostgreSQL, S3, Temporal, a sandbox in place of the payment provider, the API
and a worker. Migrates the database, adds demo users and a demo partner, and prints all addresses. Ctrl-C stops it; the
data stays.

It takes no arguments, and reads these variables of the environment:

${rows.join('\n')}

All others are passed to the API and the worker unchanged; docs/configuration.md lists them.
`;
}

/** Whether the arguments of `npm start` ask for its usage. Throws StackError naming the first unknown argument. */
export function asksForUsage(args: readonly string[]): boolean {
  const unknown = args.find((arg) => arg !== '--help' && arg !== '-h');
  if (unknown !== undefined) {
    throw new StackError(
      `npm start does not accept ${unknown}: set variables instead; npm start -- --help lists them.`,
    );
  }
  return args.length > 0;
}
