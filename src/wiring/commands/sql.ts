import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { readDatabaseToRead } from '../../platform/config/command-config.ts';
import { tlsOf, withoutParameters } from '../../platform/database/database-tls.ts';
import { budgets } from '../../shared/budgets.ts';
import { CommandError, runCommand } from './run-command.ts';
import { statementsOf, transactionWords } from './statements.ts';

const usage = `Usage: npm run sql -- "select ..."
       npm run sql < file.sql

Runs read-only statements, given or on the standard input, and prints their results. It reads as the role of
READER_DATABASE_URL, or through DATABASE_URL in read-only transactions; without either it uses the stack that runs on
DATA_DIR.`;

await runCommand(usage, async () => {
  const { values, positionals } = parseArgs({
    options: { json: { type: 'boolean', default: false }, help: { type: 'boolean' } },
    allowPositionals: true,
  });
  if (values.help) return usage;
  const statements = statementsOf(positionals.length > 0 ? positionals.join(' ') : await text(process.stdin));
  if (statements.length === 0) throw new CommandError(usage);
  for (const statement of statements) {
    const words = transactionWords(statement);
    if (words !== null)
      throw new CommandError(`"${words}" is refused: the statements run in one read-only transaction.`);
  }
  const url = readDatabaseToRead();
  const client = new pg.Client({
    connectionString: withoutParameters(url),
    ssl: tlsOf(url),
    connectionTimeoutMillis: budgets.reach.database,
  });
  try {
    await client.connect();
    await client.query('start transaction read only');
    const answers: pg.QueryArrayResult<unknown[]>[] = [];
    for (const statement of statements) {
      // In this mode the server refuses several statements in one text, of which only the first was checked above. Rows
      // are arrays, because two columns may have one name.
      const query = { text: statement, queryMode: 'extended', rowMode: 'array' as const };
      answers.push(await client.query<unknown[]>(query));
    }
    return answers
      .map((answer) => (values.json ? JSON.stringify(objects(answer), null, 2) : table(answer)))
      .join('\n\n');
  } catch (error) {
    throw new CommandError(error instanceof Error ? error.message : String(error));
  } finally {
    await client.end();
  }
});

function objects({ fields, rows }: pg.QueryArrayResult<unknown[]>): Record<string, unknown>[] {
  return rows.map((row) => Object.fromEntries(fields.map(({ name }, column) => [name, row[column]])));
}

function table({ fields, rows }: pg.QueryArrayResult<unknown[]>): string {
  const names = fields.map(({ name }) => name);
  const lines = [names, ...rows.map((row) => row.map(show))];
  const widths = names.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  const rule = widths.map((width) => '-'.repeat(width));
  const told = [lines[0] ?? [], rule, ...lines.slice(1)].map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return [...told, `(${rows.length} ${rows.length === 1 ? 'row' : 'rows'})`].join('\n');
}

function show(value: unknown): string {
  if (value === null) return '';
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
