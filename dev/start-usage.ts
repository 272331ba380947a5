import type { Settings } from './settings.ts';
import { StackError } from './stack-error.ts';

const variables: Record<keyof Settings, string> = {
  DATA_DIR: 'the directory of everything that it keeps (.amanah)',
  LISTEN_ADDRESS: 'where the API and the worker listen (127.0.0.1)',
  PORT: 'of the API (3000); 0 is a free one, kept in the data directory',
  WORKER_PORT: "of the worker's metrics (a free one, kept in the data directory)",
  TEMPORAL_UI_PORT: "of Temporal's web UI (8233); 0 is a free one, kept in the data directory",
  PUBLIC_URL: 'where others reach the API (http://localhost:PORT)',
  ALLOWED_ORIGINS: 'whose pages browsers let use the API (http://localhost:*)',
  DATABASE_URL: 'your PostgreSQL in the place of ours',
  MIGRATION_DATABASE_URL: 'the same as its owner, with DATABASE_URL where its role is not the owner',
  READER_DATABASE_URL: 'the same as the role that only reads, with DATABASE_URL',
  KEYS_DATABASE_URL: 'the database of the keys beside yours, with DATABASE_URL',
  MIGRATION_KEYS_DATABASE_URL: 'the same as its owner',
  TEMPORAL_ADDRESS: 'your Temporal server in the place of ours',
  TEMPORAL_UI_URL: "the address of that server's web UI",
  S3_ENDPOINT: 'your S3 in the place of ours',
  S3_ACCESS_KEY_ID: 'its key, with S3_ENDPOINT',
  S3_SECRET_ACCESS_KEY: 'its secret, with S3_ENDPOINT',
  S3_BUCKET: 'a bucket that exists (amanah)',
  XENDIT_URL: 'the payment provider in the place of the sandbox',
  XENDIT_SECRET_KEY: 'its key, with XENDIT_URL',
  XENDIT_CALLBACK_TOKEN: 'what its callbacks show (made at the first start)',
  DATA_ENCRYPTION_KEYS: 'what is encrypted at rest, id:key, newest first (made at the first start)',
  SEAL_SIGNING_KEY: 'what seals the journals, id:key (made at the first start)',
  BANK_ACCOUNT_WAIT_HOURS: 'how long after it was added a bank account becomes usable (0)',
  SMTP_URL: 'your mail server in the place of the sandbox, which catches mail',
  MAIL_FROM: 'who sends its mails, with SMTP_URL',
  WEBHOOK_ALLOW_LOOPBACK: 'whether webhooks may go to this machine (true)',
};

/** The output of `npm start -- --help`. */
export function describeUsage(): string {
  const width = Math.max(...Object.keys(variables).map((name) => name.length)) + 2;
  const rows = Object.entries(variables).map(([name, meaning]) => `  ${name.padEnd(width)}${meaning}`);
  return `npm start

Starts the whole product in this terminal: PostgreSQL, S3, Temporal, a sandbox in the place of the payment provider, the
API and a worker. Migrates the database, puts demo users and a demo partner in, and prints where everything is. Ctrl-C
stops it; the data stays.

It takes no arguments, and reads these variables of the environment:

${rows.join('\n')}

All others go on to the API and the worker as they are; docs/configuration.md lists them.
`;
}

/** Whether the arguments of `npm start` ask for its usage. Throws StackError naming the first unknown argument. */
export function asksForUsage(args: readonly string[]): boolean {
  const unknown = args.find((arg) => arg !== '--help' && arg !== '-h');
  if (unknown !== undefined) {
    throw new StackError(
      `npm start does not take ${unknown}: it is set by variables, which npm start -- --help lists.`,
    );
  }
  return args.length > 0;
}
