import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
/** What belongs to no domain: commands, the schema, and what all use. */
const notModules = ['commands', 'migrations', 'shared'];

it('README’s table names every module of the product, and no other', () => {
  const row = readFileSync(join(root, 'README.md'), 'utf8')
    .split('\n')
    .find((line) => line.startsWith('| [`src/`](src)'));
  const named = [...(row?.split('|')[2] ?? '').matchAll(/`([\w-]+)`/g)].map(([, name]) => name);
  const modules = readdirSync(join(root, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !notModules.includes(entry.name))
    .map(({ name }) => name);
  expect(named.toSorted()).toEqual(modules.toSorted());
});
