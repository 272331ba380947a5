import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { keysUrlBeside } from '../../dev/postgres.ts';
import { testRun } from './run.ts';

export interface Addresses {
  /** The main database; the keys database is beside it. */
  databaseUrl: string;
  temporalAddress: string;
  /** The API's URL. */
  url: string;
  sandboxUrl: string;
  /** The port at which the sandbox catches mail. */
  smtpPort?: number;
}

/** How long the sandbox's silent accounts hold a connection: less than the time-out of a call to the provider. */
export const silenceMs = 1_500;

export interface Secrets {
  callbackToken: string;
  sandboxKey: string;
  taskQueue: string;
}

export const createSecrets = (): Secrets => ({
  callbackToken: randomBytes(16).toString('hex'),
  sandboxKey: `xnd_test_${randomBytes(12).toString('hex')}`,
  taskQueue: `test-${randomBytes(6).toString('hex')}`,
});

/** The complete environment of API and worker in a test; nothing is inherited from the machine's. */
export function testEnvironment(addresses: Addresses, secrets: Secrets): Record<string, string> {
  const { s3, workflowBundle } = testRun();
  // A separate bucket (a directory), so that no other test file's register of erasures is read.
  mkdirSync(join(s3.directory, secrets.taskQueue), { recursive: true, mode: 0o700 });
  return {
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '',
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
    NODE_ENV: 'test',
    PORT: new URL(addresses.url).port,
    PUBLIC_URL: addresses.url,
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'warn',
    DATABASE_URL: addresses.databaseUrl,
    KEYS_DATABASE_URL: keysUrlBeside(addresses.databaseUrl),
    DATABASE_POOL_SIZE: '16',
    TEMPORAL_ADDRESS: addresses.temporalAddress,
    TEMPORAL_TASK_QUEUE: secrets.taskQueue,
    S3_ENDPOINT: `http://127.0.0.1:${s3.port}`,
    S3_BUCKET: secrets.taskQueue,
    S3_ACCESS_KEY_ID: s3.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    XENDIT_URL: addresses.sandboxUrl,
    XENDIT_SECRET_KEY: secrets.sandboxKey,
    XENDIT_CALLBACK_TOKEN: secrets.callbackToken,
    MAIL_BOUNCES_TOKEN: secrets.callbackToken,
    DATA_ENCRYPTION_KEYS: `test:${randomBytes(32).toString('base64')}`,
    SEAL_SIGNING_KEY: `test:${randomBytes(32).toString('base64')}`,
    ...(addresses.smtpPort !== undefined && { SMTP_URL: `smtp://127.0.0.1:${addresses.smtpPort}` }),
    MAIL_FROM: 'Amanah <no-reply@amanah.example>',
    WEBHOOK_ALLOW_LOOPBACK: 'true',
    // A new bank account is usable at once; the test of the waiting time overrides this.
    BANK_ACCOUNT_WAIT_HOURS: '0',
    WORKFLOW_BUNDLE: workflowBundle,
  };
}
