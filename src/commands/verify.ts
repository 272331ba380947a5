import { parseArgs } from 'node:util';
import { readCommandConfig } from '../config.ts';
import { openDatabase } from '../database.ts';
import { type CheckResult, runChecks } from '../ledger/run-checks.ts';
import { runCommand } from './run-command.ts';

const usage = `Usage: npm run verify [-- --json]

Reads every check_* view of the database and prints what each says. Each is empty when the books are in order.
Ends with 1 when one is not. Without DATABASE_URL it reads the stack that runs on DATA_DIR.`;

await runCommand(usage, async () => {
  const { values } = parseArgs({ options: { json: { type: 'boolean', default: false }, help: { type: 'boolean' } } });
  if (values.help) return usage;
  const orm = await openDatabase({ url: readCommandConfig().DATABASE_URL, poolSize: 1 });
  try {
    const results = await runChecks(orm.em.fork());
    if (results.some(({ violations }) => violations > 0)) process.exitCode = 1;
    return values.json ? JSON.stringify(results, null, 2) : table(results);
  } finally {
    await orm.close(true);
  }
});

function table(results: CheckResult[]): string {
  const width = Math.max(...results.map(({ check }) => check.length));
  const lines = results.flatMap(({ check, violations, sample }) => [
    `${check.padEnd(width)}  ${violations === 0 ? 'ok' : `${violations} violations`}`,
    ...sample.map((row) => `${' '.repeat(width)}    ${JSON.stringify(row)}`),
  ]);
  const failed = results.filter(({ violations }) => violations > 0).length;
  return [
    ...lines,
    '',
    failed === 0 ? 'The books are in order.' : `${failed} of ${results.length} checks failed.`,
  ].join('\n');
}
