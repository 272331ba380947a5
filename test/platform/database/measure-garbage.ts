import { getHeapSpaceStatistics } from 'node:v8';
import { openDatabase } from '../../../src/wiring/open-database.ts';

/**
 * Queries the database (the first argument is its URL) like a busy process, one statement of some 13 kB of rows after
 * another, and prints by how many bytes each made V8's old generation grow.
 */
const statements = 15_000;
const sql = "select i, repeat('x', 300) || i as text from generate_series(1, 40) i";
const old = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? Number.NaN;
/** Fills the young generation, so that it is collected every few statements. */
const litter = () => {
  for (let turn = 0; turn < 60; turn += 1) JSON.parse(JSON.stringify({ a: 'x'.repeat(200), turn, b: [1, 2, 3] }));
};

const orm = await openDatabase({ url: process.argv[2] ?? '', poolSize: 2 });
let grown = 0;
let last = old();
for (let count = 0; count < statements; count += 1) {
  await orm.em.fork().execute(sql);
  litter();
  const now = old();
  // The old generation shrinks only when it is collected.
  if (now > last) grown += now - last;
  last = now;
}
await orm.close();
process.stdout.write(String(Math.round(grown / statements)));
