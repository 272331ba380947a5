import { z } from 'zod';
import { type DemoUser, type DemoUserName, ensureDemoData } from './demo-data.ts';
import { type PartPlace, type ReadyMessage, readPartOptions, startPart } from './part.ts';
import type { Secrets } from './secrets.ts';

const readyWithinMs = 120_000;

export interface PrepareOptions {
  databaseUrl: string;
  passwords: Secrets['passwords'];
}

/** Migrates a database and puts the demo data in; `onMigrated` is called in between, when API and worker may start. */
export async function prepareDatabase(
  options: PrepareOptions,
  place: PartPlace,
  onMigrated: () => void,
): Promise<Record<DemoUserName, DemoUser>> {
  const part = await startPart({
    ...place,
    name: 'The preparation of the database',
    script: import.meta.filename,
    env: process.env,
    options,
    readyWithinMs,
    onMessage: (message) => {
      if (message === 'migrated') onMigrated();
    },
  });
  await part.exited;
  return part.details as Record<DemoUserName, DemoUser>;
}

async function run(): Promise<void> {
  process.on('disconnect', () => process.exit(1));
  const options = z
    .object({ databaseUrl: z.string(), passwords: z.record(z.string(), z.string()) })
    .parse(readPartOptions()) as PrepareOptions;
  const { migrate } = await import('../src/migrate.ts');
  const { openDatabase } = await import('../src/database.ts');
  await migrate(options.databaseUrl);
  process.send?.('migrated');
  const orm = await openDatabase({ url: options.databaseUrl, poolSize: 2, log: () => undefined });
  const details = await ensureDemoData(orm.em.fork(), options.passwords);
  await orm.close(true);
  const message: ReadyMessage = { ready: true, details };
  process.send?.(message, () => process.exit(0));
}

if (import.meta.main) await run();
