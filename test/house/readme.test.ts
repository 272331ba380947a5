import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
/** Folders of a wing that are not modules. */
const ofMigrations = ['baseline', 'keys'];

const foldersOf = (directory: string) =>
  readdirSync(join(root, directory), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

it('README’s table names every wing and module of the product, and no others', () => {
  const row = readFileSync(join(root, 'README.md'), 'utf8')
    .split('\n')
    .find((line) => line.startsWith('| [`src/`](src)'));
  const named = [...(row?.split('|')[2] ?? '').matchAll(/`([\w-]+)`/g)].map(([, name]) => name);
  const wings = foldersOf('src');
  const modules = wings.flatMap((wing) => foldersOf(`src/${wing}`)).filter((name) => !ofMigrations.includes(name));
  expect(named.toSorted()).toEqual([...wings, ...modules].toSorted());
});

it('Documents stay within their word limits', () => {
  const mostWords = {
    README: 1_200,
    SECURITY: 1_500,
    'docs/architecture': 3_000,
    'docs/torture': 2_000,
    'docs/scale': 2_500,
  };
  const wordsOf = (name: string) =>
    readFileSync(join(root, `${name}.md`), 'utf8')
      .split(/\s+/)
      .filter(Boolean).length;
  const tooLong = Object.entries(mostWords).filter(([name, most]) => wordsOf(name) > most);
  expect(tooLong.map(([name, most]) => `${name}.md: ${wordsOf(name)} words of ${most}`)).toEqual([]);
});

it('Documents have no line of prose over 160 characters', () => {
  const documents = globSync('{*,{bench,deploy,docs,examples,sdk,src,test}/**/*}.md', {
    cwd: root,
    exclude: (path) => path.includes('node_modules'),
  });
  const long = documents.flatMap((file) => {
    const prose = readFileSync(join(root, file), 'utf8').replace(/^ *```[\s\S]*?^ *```/gm, (code) =>
      code.replace(/.+/g, ''),
    );
    return prose
      .split('\n')
      .flatMap((line, at) => (line.length > 160 && !/^ *\|/.test(line) ? [`${file}:${at + 1}`] : []));
  });
  expect(long).toEqual([]);
});

it('SECURITY.md names only tests that exist', () => {
  const text = readFileSync(join(root, 'SECURITY.md'), 'utf8');
  const tests = [...text.matchAll(/`(test\/[^`]+)`/g)].map(([, path = '']) => path);
  expect(tests.length).toBeGreaterThan(10);
  expect(tests.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
