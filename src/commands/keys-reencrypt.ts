import { type ReencryptProgress, reencrypt } from '../encryption/reencrypt.ts';
import { must } from '../shared/assert.ts';
import { runSubcommands, type Subcommand } from './run-subcommands.ts';

const barWidth = 30;

/** A progress bar on the terminal, when there is one; a log file gets none. */
function showProgress({ table, column, done, total }: ReencryptProgress): void {
  if (!process.stderr.isTTY) return;
  const filled = total === 0 ? barWidth : Math.round((done / total) * barWidth);
  const bar = `${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}`;
  process.stderr.write(`\r[${bar}] ${done}/${total} ${table}.${column}\u001b[K${done === total ? '\n' : ''}`);
}

const run: Subcommand = {
  summary: 'Move everything that is encrypted at rest to the newest key of DATA_ENCRYPTION_KEYS',
  options: {},
  async run({ orm, sealer, config }) {
    const newestKeyId = must(config.DATA_ENCRYPTION_KEYS[0], 'there is an encryption key').id;
    const results = await reencrypt(orm.em.fork(), { sealer, newestKeyId, onProgress: showProgress });
    const moved = results.reduce((sum, result) => sum + result.moved, 0);
    const lines = results.map((result) => `${result.table}.${result.column}: ${result.moved} of ${result.rows} moved`);
    return {
      json: { key_id: newestKeyId, moved, columns: results },
      text: `${lines.join('\n')}\n${moved} values moved; everything is encrypted with the key ${newestKeyId} now. Older keys can be taken out once no process runs with them first.`,
    };
  },
};

if (import.meta.main) {
  const args = process.argv.slice(2);
  process.exit(await runSubcommands('npm run keys:reencrypt --', { run }, ['run', ...args]));
}
