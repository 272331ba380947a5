import { type ArchiveOutcome, archiveMonth } from '../../platform/archive/archive-month.ts';
import { ConfigError } from '../../shared/errors.ts';
import { runArchiveCommand } from './archive-tools.ts';

const usage = `Usage: npm run archive -- --month YYYY-MM [--table NAME] [--json]

Moves a month (UTC) of the tables that are partitioned by month out of the database: copies it to the file store,
reads the copy back, and then drops it. The month must have ended ARCHIVE_AFTER_MONTHS ago, its days must all be
sealed, and its rows no longer needed; exits with 1 when a table is skipped for such a reason. May be stopped at any
moment and rerun. Needs the owner's MIGRATION_DATABASE_URL and the S3_* of the file store. To undo it: npm run
archive:restore.`;

await runArchiveCommand(
  usage,
  async ({ config: { ARCHIVE_AFTER_MONTHS: afterMonths }, em, storage }, place) => {
    if (afterMonths === undefined) throw new ConfigError('ARCHIVE_AFTER_MONTHS is not set: nothing is archived.');
    const outcome = await archiveMonth(em, storage, { ...place, afterMonths });
    if (outcome.state === 'needed') process.exitCode = 1;
    return outcome;
  },
  describe,
);

function describe({ table, state, rows, reason }: ArchiveOutcome): string {
  switch (state) {
    case 'archived':
      return `${table}: archived, ${rows} rows`;
    case 'archived before':
      return `${table}: is archived already, ${rows} rows`;
    case 'absent':
      return `${table}: has no such month`;
    case 'needed':
      return `${table}: unchanged: ${reason}`;
  }
}
