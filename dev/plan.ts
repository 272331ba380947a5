import { join } from 'node:path';
import { applicationRole, readerRole } from '../src/platform/database/database-roles.ts';
import type { Credentials } from './credentials.ts';
import { keysUrlBeside, type PostgresOptions, postgresUrl } from './postgres.ts';
import type { S3Options } from './s3.ts';
import { callbackPath, type SandboxOptions } from './sandbox-part.ts';
import type { Secrets } from './secrets.ts';
import type { Settings } from './settings.ts';
import type { TemporalOptions } from './temporal.ts';

/** The names of the ports that are chosen for a data directory and stored in it. */
export const portNames = ['postgres', 's3', 'temporal', 'sandbox', 'smtp', 'api', 'worker', 'temporal-ui'] as const;
export type Ports = Record<(typeof portNames)[number], number>;

/** The options of each part; undefined for a part that the environment replaces. */
export interface Plan {
  apiPort: number;
  /** The port of the worker's metrics. */
  workerPort: number;
  postgres: PostgresOptions | undefined;
  s3: S3Options | undefined;
  temporal: (Omit<TemporalOptions, 'binary'> & { uiPort: number }) | undefined;
  sandbox: SandboxOptions | undefined;
  /** The environment of the API, the worker, and the commands that use the stack. */
  services: Record<string, string>;
  urls: Credentials['urls'];
  /** URL of the keys database, as its owner. */
  keysOwnerUrl: string;
  callbackToken: string;
}

const bucketName = 'amanah';
const databaseName = 'amanah';

/** Plans a stack without starting anything. */
export function planStack(settings: Settings, ports: Ports, secrets: Secrets): Plan {
  const directory = settings.DATA_DIR;
  const apiPort = settings.PORT === 0 ? ports.api : settings.PORT;
  const uiPort = settings.TEMPORAL_UI_PORT === 0 ? ports['temporal-ui'] : settings.TEMPORAL_UI_PORT;
  const callbackToken = settings.XENDIT_CALLBACK_TOKEN ?? secrets.callbackToken;
  const secretKey = settings.XENDIT_SECRET_KEY ?? secrets.sandboxSecretKey;
  const postgres = {
    directory: join(directory, 'postgres'),
    port: ports.postgres,
    password: secrets.databasePassword,
    database: databaseName,
  };
  const s3 = {
    directory: join(directory, 's3'),
    port: ports.s3,
    bucket: settings.S3_BUCKET ?? bucketName,
    accessKeyId: settings.S3_ACCESS_KEY_ID ?? secrets.s3AccessKeyId,
    secretAccessKey: settings.S3_SECRET_ACCESS_KEY ?? secrets.s3SecretAccessKey,
  };
  const temporal = {
    port: ports.temporal,
    uiPort,
    databaseFile: join(directory, 'temporal', 'temporal.db'),
    retention: '30d',
  };
  const sandbox = {
    directory: join(directory, 'sandbox'),
    port: ports.sandbox,
    callbackUrl: `http://127.0.0.1:${apiPort}${callbackPath}`,
    callbackToken,
    secretKey,
    smtpPort: ports.smtp,
  };
  // With a real provider there is no sandbox to catch mail.
  const smtpUrl = settings.SMTP_URL ?? (settings.XENDIT_URL ? undefined : `smtp://127.0.0.1:${ports.smtp}`);
  const api = settings.PUBLIC_URL ?? `http://localhost:${apiPort}`;
  const urls = {
    api,
    docs: `${api}/docs`,
    temporal_ui: settings.TEMPORAL_UI_URL ?? (settings.TEMPORAL_ADDRESS ? null : `http://localhost:${uiPort}`),
    temporal_address: settings.TEMPORAL_ADDRESS ?? `127.0.0.1:${ports.temporal}`,
    sandbox: settings.XENDIT_URL ? null : `http://127.0.0.1:${ports.sandbox}`,
    database: settings.MIGRATION_DATABASE_URL ?? settings.DATABASE_URL ?? postgresUrl(postgres),
  };
  const application = postgresUrl({ ...postgres, role: applicationRole, password: secrets.applicationPassword });
  const reader = settings.DATABASE_URL
    ? settings.READER_DATABASE_URL
    : postgresUrl({ ...postgres, role: readerRole, password: secrets.readerPassword });
  return {
    apiPort,
    workerPort: settings.WORKER_PORT ?? ports.worker,
    postgres: settings.DATABASE_URL ? undefined : postgres,
    s3: settings.S3_ENDPOINT ? undefined : s3,
    temporal: settings.TEMPORAL_ADDRESS ? undefined : temporal,
    sandbox: settings.XENDIT_URL ? undefined : sandbox,
    services: {
      NODE_ENV: 'development',
      DATA_DIR: directory,
      PORT: String(apiPort),
      LISTEN_ADDRESS: settings.LISTEN_ADDRESS ?? '127.0.0.1',
      PUBLIC_URL: api,
      ALLOWED_ORIGINS: settings.ALLOWED_ORIGINS ?? 'http://localhost:*',
      DATABASE_URL: settings.DATABASE_URL ?? application,
      KEYS_DATABASE_URL: settings.KEYS_DATABASE_URL ?? keysUrlBeside(application),
      ...(reader && { READER_DATABASE_URL: reader }),
      TEMPORAL_ADDRESS: urls.temporal_address,
      ...(urls.temporal_ui && { TEMPORAL_UI_URL: urls.temporal_ui }),
      S3_ENDPOINT: settings.S3_ENDPOINT ?? `http://127.0.0.1:${ports.s3}`,
      S3_BUCKET: s3.bucket,
      S3_ACCESS_KEY_ID: s3.accessKeyId,
      S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
      XENDIT_URL: settings.XENDIT_URL ?? `http://127.0.0.1:${ports.sandbox}`,
      XENDIT_SECRET_KEY: secretKey,
      XENDIT_CALLBACK_TOKEN: callbackToken,
      DATA_ENCRYPTION_KEYS: settings.DATA_ENCRYPTION_KEYS ?? secrets.dataEncryptionKeys,
      SEAL_SIGNING_KEY: settings.SEAL_SIGNING_KEY ?? secrets.sealSigningKey,
      ...(smtpUrl && { SMTP_URL: smtpUrl, MAIL_FROM: settings.MAIL_FROM ?? 'Amanah <no-reply@amanah.example>' }),
      WEBHOOK_ALLOW_LOOPBACK: settings.WEBHOOK_ALLOW_LOOPBACK ?? 'true',
      BANK_ACCOUNT_WAIT_HOURS: settings.BANK_ACCOUNT_WAIT_HOURS ?? '0',
    },
    urls,
    keysOwnerUrl:
      settings.MIGRATION_KEYS_DATABASE_URL ?? settings.KEYS_DATABASE_URL ?? keysUrlBeside(postgresUrl(postgres)),
    callbackToken,
  };
}
