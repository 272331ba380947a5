import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
/** Folders inside a module: not modules themselves. */
const ofMigrations = ['baseline', 'keys'];

const foldersOf = (directory: string) =>
  readdirSync(join(root, directory), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

it('README’s table names every wing and module of the product, and no other', () => {
  const row = readFileSync(join(root, 'README.md'), 'utf8')
    .split('\n')
    .find((line) => line.startsWith('| [`src/`](src)'));
  const named = [...(row?.split('|')[2] ?? '').matchAll(/`([\w-]+)`/g)].map(([, name]) => name);
  const wings = foldersOf('src');
  const modules = wings.flatMap((wing) => foldersOf(`src/${wing}`)).filter((name) => !ofMigrations.includes(name));
  expect(named.toSorted()).toEqual([...wings, ...modules].toSorted());
});

it('SECURITY.md has at most 1,500 words, and tests that are there for the guards that it names', () => {
  const text = readFileSync(join(root, 'SECURITY.md'), 'utf8');
  expect(text.split(/\s+/).length).toBeLessThanOrEqual(1_500);
  const tests = [...text.matchAll(/`(test\/[^`]+)`/g)].map(([, path = '']) => path);
  expect(tests.length).toBeGreaterThan(10);
  expect(tests.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
