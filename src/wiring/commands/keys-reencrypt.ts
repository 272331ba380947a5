import { type ReencryptProgress, reencrypt } from '../../platform/encryption/reencrypt.ts';
import { must } from '../../shared/assert.ts';
import { armFailpoints } from '../../shared/failpoint.ts';
import { CommandError } from './run-command.ts';
import { keysOf, runSubcommands, type Subcommand } from './run-subcommands.ts';

const barWidth = 30;
const shownUnreadable = 20;

let toldPercent = -10;

/** Shows a progress bar, redrawn in place on a terminal; elsewhere one line per tenth. */
function showProgress({ table, column, done, total }: ReencryptProgress): void {
  const filled = total === 0 ? barWidth : Math.round((done / total) * barWidth);
  const bar = `${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}`;
  const line = `[${bar}] ${done}/${total} ${table}.${column}`;
  if (process.stderr.isTTY) {
    process.stderr.write(`\r${line}\u001b[K${done === total ? '\n' : ''}`);
    return;
  }
  const percent = total === 0 ? 100 : Math.floor((done / total) * 10) * 10;
  if (percent > toldPercent) process.stderr.write(`${line}\n`);
  toldPercent = Math.max(toldPercent, percent);
}

const run: Subcommand = {
  summary: 'Re-encrypt everything at rest with the newest key of DATA_ENCRYPTION_KEYS',
  options: {},
  async run({ orm, openKeys, openSealer, config }) {
    armFailpoints(config.FAILPOINTS);
    const newestKeyId = must(keysOf(config)[0], 'there is an encryption key').id;
    const how = { sealer: openSealer(), newestKeyId, onProgress: showProgress };
    const results = [...(await reencrypt(openKeys().em.fork(), how)), ...(await reencrypt(orm.em.fork(), how))];
    const unreadable = results.flatMap((result) =>
      result.unreadable.map((id) => `  ${result.table}.${result.column} ${id}`),
    );
    const moved = results.reduce((sum, result) => sum + result.moved, 0);
    if (unreadable.length > 0) {
      throw new CommandError(
        `${moved} values re-encrypted, but no configured key opens ${unreadable.length}, which are unchanged:\n${unreadable.slice(0, shownUnreadable).join('\n')}`,
      );
    }
    const lines = results.map((result) => `${result.table}.${result.column}: ${result.moved} of ${result.rows} moved`);
    return {
      json: { key_id: newestKeyId, moved, columns: results },
      text: `${lines.join('\n')}\n${moved} values re-encrypted; everything is now encrypted with the key ${newestKeyId}. Older keys can be removed once no process lists them first.`,
    };
  },
};

if (import.meta.main) {
  const args = process.argv.slice(2);
  process.exit(await runSubcommands('npm run keys:reencrypt --', { run }, ['run', ...args]));
}
