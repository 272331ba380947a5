import { parseArgs } from 'node:util';
import { readCommandConfig } from '../config.ts';
import { openDatabase } from '../database.ts';
import { type CheckResult, runChecks } from '../ledger/run-checks.ts';
import { type Backlog, readBacklog } from '../measure-backlog.ts';
import { runCommand } from './run-command.ts';

const usage = `Usage: npm run verify [-- --json]

Reads every check_* view of the database and prints what each says. Each is empty when the books are in order.
Ends with 1 when one is not. Then it prints what waits for people or for another try, by kind: money of the provider
that has no receipt here, payouts that nobody can tell, rows whose workflow is late. Without DATABASE_URL it reads the stack that runs on DATA_DIR.`;

await runCommand(usage, async () => {
  const { values } = parseArgs({ options: { json: { type: 'boolean', default: false }, help: { type: 'boolean' } } });
  if (values.help) return usage;
  const orm = await openDatabase({ url: readCommandConfig().DATABASE_URL, poolSize: 1 });
  try {
    const results = await runChecks(orm.em.fork());
    const waiting = (await readBacklog(orm.em.fork())).filter(({ rows }) => rows > 0);
    if (results.some(({ violations }) => violations > 0)) process.exitCode = 1;
    return values.json
      ? JSON.stringify({ checks: results, waiting }, null, 2)
      : `${table(results)}\n\n${list(waiting)}`;
  } finally {
    await orm.close(true);
  }
});

function list(waiting: Backlog[]): string {
  if (waiting.length === 0) return 'Nothing waits for people.';
  const lines = waiting.map(
    ({ what, rows, oldest }) => `  ${what}: ${rows}, since ${oldest?.toISOString() ?? 'unknown'}`,
  );
  return ['Waits for people or for another try (docs/operations.md, What to watch):', ...lines].join('\n');
}

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
