import { parseArgs } from 'node:util';
import type { EntityManager } from '@mikro-orm/postgresql';
import { isMonth } from '../../platform/archive/archived-month.ts';
import { findDividedTables } from '../../platform/archive/find-months.ts';
import { type ArchiveConfig, readArchiveConfig } from '../../platform/config/command-config.ts';
import { refuseUnlessOwner } from '../../platform/database/database-roles.ts';
import { openStorage, type Storage } from '../../platform/storage/storage.ts';
import { armFailpoints } from '../../shared/failpoint.ts';
import { openDatabase } from '../open-database.ts';
import { CommandError, runCommand } from './run-command.ts';

export interface ArchiveTools {
  config: ArchiveConfig;
  em: EntityManager;
  storage: Storage;
}

/**
 * Runs a command on a month of each partitioned table, or of the named one, as the owner of the database; prints each
 * result as text from `describe` or as JSON.
 */
export const runArchiveCommand = <Outcome>(
  usage: string,
  work: (tools: ArchiveTools, place: { table: string; month: string }) => Promise<Outcome>,
  describe: (outcome: Outcome) => string,
): Promise<void> =>
  runCommand(usage, async () => {
    const { values } = parseArgs({
      options: {
        month: { type: 'string' },
        table: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean' },
      },
    });
    if (values.help) return usage;
    const { month } = values;
    if (month === undefined || !isMonth(month)) throw new CommandError('--month must be a month, YYYY-MM');
    const outcomes: Outcome[] = [];
    await withTools(values.table, async (tools, tables) => {
      for (const table of tables) outcomes.push(await work(tools, { table, month }));
    });
    return values.json ? JSON.stringify({ month, tables: outcomes }, null, 2) : outcomes.map(describe).join('\n');
  });

async function withTools(
  table: string | undefined,
  work: (tools: ArchiveTools, tables: readonly string[]) => Promise<void>,
): Promise<void> {
  const config = readArchiveConfig();
  armFailpoints(config.FAILPOINTS);
  const storage = openStorage(config);
  const orm = await openDatabase({ url: config.owner, poolSize: 1 });
  try {
    const em = orm.em.fork();
    await refuseUnlessOwner(em, { schema: 'months', wants: 'archive' });
    const all = await findDividedTables(em);
    if (table !== undefined && !all.includes(table)) throw new CommandError(`--table must be one of ${all.join(', ')}`);
    await work({ config, em, storage }, table === undefined ? all : [table]);
  } finally {
    await orm.close(true);
    storage.close();
  }
}
