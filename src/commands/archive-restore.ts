import { parseArgs } from 'node:util';
import { type RestoreOutcome, restoreMonth } from '../archive/restore-month.ts';
import { withArchive } from './archive-tools.ts';
import { runCommand } from './run-command.ts';

const usage = `Usage: npm run archive:restore -- --month YYYY-MM [--table NAME] [--json]

Brings an archived month (of UTC) back from the file store: loads its rows, compares them with what was archived, and makes
them part of their tables again. May be stopped at any moment and run again.
Needs the owner's MIGRATION_DATABASE_URL and the S3_* of the file store.`;

const sentences: Record<RestoreOutcome['state'], string> = {
  restored: 'restored',
  there: 'is in the database',
  absent: 'was never archived',
};
const describe = ({ table, state, rows }: RestoreOutcome): string =>
  `${table}: ${sentences[state]}${state === 'restored' ? `, ${rows} rows` : ''}`;

await runCommand(usage, async () => {
  const { values } = parseArgs({
    options: {
      month: { type: 'string' },
      table: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean' },
    },
  });
  if (values.help) return usage;
  const { month, table } = values;
  const outcomes = await withArchive({ month, table }, async ({ em, storage, tables, month: asked }) => {
    const done: RestoreOutcome[] = [];
    for (const each of tables) done.push(await restoreMonth(em, storage, { table: each, month: asked }));
    return done;
  });
  return values.json ? JSON.stringify({ month, tables: outcomes }, null, 2) : outcomes.map(describe).join('\n');
});
