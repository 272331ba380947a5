import { readConfig } from './config.ts';
import { openDatabase } from './database.ts';
import { allowTime, setRoleTimeOuts } from './database-time-outs.ts';
import { runMain } from './process.ts';
import { budgets } from './shared/budgets.ts';

/** Two processes that migrate at once take turns on this advisory lock. */
const migrationLock = 7_262_624;

/** Brings a database to the newest schema and gives the role that migrates its time-outs; safe to run from several processes at once and on a migrated database. */
export async function migrate(url: string): Promise<string[]> {
  const orm = await openDatabase({ url, poolSize: 4 });
  try {
    return await orm.em.fork().transactional(async (tx) => {
      await allowTime(tx, budgets.database.command);
      await tx.execute('select pg_advisory_xact_lock(?)', [migrationLock]);
      const done = await orm.migrator.up({ transaction: tx.getTransactionContext() });
      const [{ role }] = await tx.execute<[{ role: string }]>('select current_user as role');
      await setRoleTimeOuts(tx, role);
      return done.map(({ name }) => name);
    });
  } finally {
    await orm.close(true);
  }
}

if (import.meta.main) await runMain(run);

async function run(): Promise<void> {
  const done = await migrate(readConfig().DATABASE_URL);
  process.stdout.write(done.length === 0 ? 'The schema is up to date.\n' : `Migrated: ${done.join(', ')}.\n`);
}
