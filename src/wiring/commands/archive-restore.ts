import { type RestoreOutcome, restoreMonth } from '../../platform/archive/restore-month.ts';
import { runArchiveCommand } from './archive-tools.ts';

const usage = `Usage: npm run archive:restore -- --month YYYY-MM [--table NAME] [--json]

Restores an archived month (UTC) from the file store: loads its rows, compares them with the archive, and attaches
them to their tables again. May be stopped at any moment and rerun. Needs the owner's MIGRATION_DATABASE_URL and the
S3_* of the file store.`;

const sentences: Record<RestoreOutcome['state'], string> = {
  restored: 'restored',
  there: 'is in the database',
  absent: 'was never archived',
};
const describe = ({ table, state, rows }: RestoreOutcome): string =>
  `${table}: ${sentences[state]}${state === 'restored' ? `, ${rows} rows` : ''}`;

await runArchiveCommand(usage, ({ em, storage }, place) => restoreMonth(em, storage, place), describe);
