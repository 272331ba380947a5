import { type ArchiveOutcome, archiveMonth } from '../../platform/archive/archive-month.ts';
import { ConfigError } from '../../shared/errors.ts';
import { runArchiveCommand } from './archive-tools.ts';

const usage = `Usage: npm run archive -- --month YYYY-MM [--table NAME] [--json]

Moves a month (of UTC) of the tables that are divided by month out of the database: copies it to the file store, reads the
copy back, and then drops it. Only a month that ended ARCHIVE_AFTER_MONTHS ago, whose days are all sealed, and of which
nobody needs a row any more; ends with 1 when one is left for such a reason. May be stopped at any moment and run again.
Needs the owner's MIGRATION_DATABASE_URL and the S3_* of the file store. Back: npm run archive:restore.`;

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
      return `${table}: left as it is: ${reason}`;
  }
}
