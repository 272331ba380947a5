import { z } from 'zod';
import { must } from '../src/shared/assert.ts';
import { type DemoUser, type DemoUserName, ensureDemoData } from './demo-data.ts';
import { type DemoPartner, ensureDemoPartner } from './demo-partner.ts';
import { ensureDemoThings } from './demo-things.ts';
import { fail } from './keep.ts';
import { type PartPlace, type ReadyMessage, readPartOptions, startPart } from './part.ts';
import { type Secrets, secretsSchema } from './secrets.ts';

const readyWithinMs = 120_000;

export interface PrepareOptions {
  /** URL of the database, as its owner. */
  ownerUrl: string;
  /** URL of the keys database, as its owner. */
  keysOwnerUrl: string;
  /** The environment of the services: the database and its encryption keys. */
  services: Record<string, string>;
  /** The data directory that contains the database; null if the environment names the database. */
  dataDirectory: string | null;
  /** The URL of the demo partner's webhooks. */
  webhookUrl: string | null;
  secrets: Pick<Secrets, 'passwords' | 'partner'>;
}

/** The users and the partner that exist from the start. */
export interface DemoPeople {
  users: Record<DemoUserName, DemoUser>;
  partner: DemoPartner;
}

const pickSecrets = ({ passwords, partner }: PrepareOptions['secrets']) => ({ passwords, partner });

/** Migrates a database and adds the demo data; `onMigrated` is called in between, when the worker may start. */
export async function prepareDatabase(
  options: PrepareOptions,
  place: PartPlace,
  onMigrated: () => void,
): Promise<DemoPeople> {
  const part = await startPart({
    ...place,
    name: 'The preparation of the database',
    script: import.meta.filename,
    env: process.env,
    options: { ...options, secrets: pickSecrets(options.secrets) } satisfies PrepareOptions,
    readyWithinMs,
    onMessage: (message) => {
      if (message === 'migrated') onMigrated();
    },
  });
  await part.exited;
  return part.details as DemoPeople;
}

async function run(): Promise<void> {
  process.on('disconnect', () => process.exit(1));
  const options = z
    .object({
      ownerUrl: z.string(),
      keysOwnerUrl: z.string(),
      services: z.record(z.string(), z.string()),
      dataDirectory: z.string().nullable(),
      webhookUrl: z.string().nullable(),
      secrets: secretsSchema.pick({ passwords: true, partner: true }),
    })
    .parse(readPartOptions()) satisfies PrepareOptions;
  const { ownerUrl, keysOwnerUrl, services, dataDirectory, webhookUrl, secrets } = options;
  const { readConfig } = await import('../src/platform/config/config.ts');
  const { agreeOnKeys } = await import('../src/platform/encryption/agree-on-keys.ts');
  const { createPersonalKeys } = await import('../src/platform/encryption/personal-keys.ts');
  const { createSealer } = await import('../src/platform/encryption/sealer.ts');
  const { applicationRole, keysRole, passwordFor, readerRole } = await import(
    '../src/platform/database/database-roles.ts'
  );
  const { migrate, migrateKeys } = await import('../src/wiring/commands/migrate.ts');
  const { openDatabase } = await import('../src/wiring/open-database.ts');
  const { ensureDatabase } = await import('./keys-database.ts');
  const config = readConfig(services);
  try {
    // In your own PostgreSQL, you create both databases yourself.
    if (dataDirectory !== null) await ensureDatabase(keysOwnerUrl);
    const passwords = {
      ...passwordFor(applicationRole, config.DATABASE_URL),
      ...passwordFor(readerRole, config.READER_DATABASE_URL),
    };
    await migrateKeys(keysOwnerUrl, passwordFor(keysRole, config.KEYS_DATABASE_URL));
    await migrate(ownerUrl, passwords);
  } catch (error) {
    if (!Error.isError(error) || error.name !== 'ConfigError') throw error;
    const where =
      dataDirectory === null
        ? ''
        : ` Its data directory is ${dataDirectory}: move it away, or set DATA_DIR to another, and start again.`;
    await fail(`${error.message}${where}`);
  }
  process.send?.('migrated');
  // Only the owner may post the opening balances.
  const orm = await openDatabase({ url: ownerUrl, poolSize: 2, log: () => undefined });
  const keysOrm = await openDatabase({ url: config.KEYS_DATABASE_URL, poolSize: 2, log: () => undefined });
  const encryption = createSealer(config.DATA_ENCRYPTION_KEYS);
  const sealer = createSealer(config.DATA_ENCRYPTION_KEYS, createPersonalKeys(keysOrm, encryption, agreeOnKeys(orm)));
  const users = await ensureDemoData(orm.em.fork(), sealer, secrets.passwords);
  await ensureDemoThings(orm.em.fork(), sealer, users);
  const partner = await ensureDemoPartner(orm.em.fork(), sealer, {
    secrets: secrets.partner,
    organizationId: must(users.organization_admin.organization_id, 'the demo organization exists'),
    administrator: users.platform_super_admin.user_id,
    webhookUrl,
  });
  const details: DemoPeople = { users, partner };
  await orm.close(true);
  await keysOrm.close(true);
  const message: ReadyMessage = { ready: true, details };
  process.send?.(message, () => process.exit(0));
}

if (import.meta.main) await run();
