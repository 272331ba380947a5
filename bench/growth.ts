import { endBench } from './bounds.ts';
import { countBlocks, countingSettings, type Taken } from './growth/blocks.ts';
import { fillYear } from './growth/fill-year.ts';
import { faster, hollow, knownGrowth } from './growth/judge.ts';
import { questionsOf } from './growth/questions.ts';
import { findSubjects } from './growth/subjects.ts';
import { flag, startBenchStack } from './stack.ts';
import { printTable } from './table.ts';

/**
 * For each size in `--rows`, fills a new database with that many operations of one year, and counts the blocks that
 * lists, statements, reservations, sweeps, checks and retention read. Fails if reads grow faster than the answer.
 * Compares blocks rather than times, so that load on the machine has no effect.
 */
const sizes = (process.argv[process.argv.indexOf('--rows') + 1] ?? '')
  .split(',')
  .map(Number)
  .filter((rows) => Number.isInteger(rows) && rows > 0);
if (!process.argv.includes('--rows') || sizes.length < 2)
  throw new Error('--rows: needs at least two sizes, e.g. --rows 1e5,1e6');

const say = (text: string) => void process.stdout.write(`${text}\n`);
const problems: string[] = [];

const checkViews = `select viewname as view from pg_views
  where schemaname = 'public' and viewname like 'check\\_%' order by 1`;
type Found = Map<string, Taken>;

/** The number of operations since the checks were last proved in full. */
const lately = 100;

async function measure(rows: number): Promise<Found> {
  await using stack = await startBenchStack({ settings: countingSettings });
  const year = { rows, end: new Date(Date.now() - 60_000).toISOString() };
  const started = performance.now();
  await fillYear(stack.databaseUrl, year);
  const { port } = await stack.startApi();
  const subjects = await findSubjects(stack, year, port);
  await using counter = await countBlocks(stack.databaseUrl);
  const [size] = await counter.ask<{ size: string }>(
    'select pg_size_pretty(pg_database_size(current_database())) as size',
  );
  say(`${rows} operations, ${size?.size}: filled in ${Math.round((performance.now() - started) / 1000)} s`);
  const found: Found = new Map();
  const keep = async (name: string, taking: () => Promise<Taken>) => {
    try {
      found.set(name, await taking());
    } catch (error) {
      problems.push(`${name}, ${rows} rows: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const { deps, databaseUrl, owner } = stack;
  for (const { name, before = 2, prepare, countsTotal, ask } of questionsOf(subjects, {
    deps,
    port,
    databaseUrl,
    owner,
  })) {
    await keep(name, async () => {
      for (let time = 0; time < before; time += 1) await ask();
      await prepare?.();
      return counter.during(ask, { countsTotal });
    });
  }
  // A full check reads everything it covers, so the whole year counts as its answer. A check of recent rows must not
  // read more after a larger year.
  const since = new Date(Date.parse(year.end) - (lately / rows) * 365 * 24 * 60 * 60 * 1000).toISOString();
  for (const { view } of await counter.ask<{ view: string }>(checkViews)) {
    await keep(view, () => counter.readEmpty(view, rows));
    await keep(`${view}, lately`, () => counter.readEmpty(view, lately, since));
  }
  return found;
}

const measured: Found[] = [];
for (const rows of sizes) measured.push(await measure(rows));
const names = [...(measured[0]?.keys() ?? [])];
const grown: string[] = [];
const lines = names.map((name) => {
  const all = measured.map((found) => found.get(name));
  const emptiness = hollow(name, all, sizes);
  if (emptiness !== undefined) problems.push(`${name}: ${emptiness}`);
  const isFaster = all.some((larger, index) => index > 0 && faster(name, all[index - 1], larger));
  const known = knownGrowth(name, all, sizes);
  if (isFaster && known === undefined) grown.push(name);
  const cells = all.flatMap((taken) =>
    taken === undefined
      ? ['', '', '', '']
      : [String(taken.answer), String(taken.blocks), String(taken.rows ?? ''), taken.ms.toFixed(1)],
  );
  const totals = all.map((taken) => taken?.counted ?? 0);
  const counts = totals.some((blocks) => blocks > 0) ? `its total: ${totals.join(', ')} blocks` : '';
  return [name, ...cells, isFaster ? (known ?? 'GROWS') : counts];
});
printTable(
  ['', ...sizes.flatMap((rows) => [`${rows}: answers`, 'blocks', 'rows', 'ms']), 'faster than its answer'],
  lines,
);
for (const [index, found] of measured.entries()) {
  const rowsOf = (isLately: boolean) =>
    [...found]
      .filter(([name]) => name.startsWith('check_') && name.endsWith(', lately') === isLately)
      .reduce((sum, [, { rows = 0 }]) => sum + rows, 0);
  say(`${sizes[index]} operations: all checks read ${rowsOf(false)} rows, and ${rowsOf(true)} in the incremental ones`);
}
if (!flag('smallest')) for (const name of grown) problems.push(`${name} grows faster than its answer`);
endBench({ problems, bounds: [{ figure: 'what grows faster than its answer', value: grown.length, most: 0 }] }, say);
