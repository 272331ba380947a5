import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const read = (pattern: string) =>
  globSync(pattern, { cwd: root }).map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));

const sources = read('{src,workflows,activities}/**/*.ts').filter(({ file }) => file !== 'src/shared/failpoint.ts');
const tests = read('test/**/*.ts').filter(({ file }) => !file.startsWith('test/house/'));

/** A failpoint is named where it is, or handed on as `after`. */
const named = /(?:\bfailpoint\(|\bafter = )'([^']+)'/g;
const called = /\bfailpoint\((?!')([^)]*)\)/g;
const found = sources.flatMap(({ text }) => [...text.matchAll(named)].map(([, name = '']) => name));

describe('A failpoint of the product', () => {
  it('is known by its name', () => {
    const unnamed = sources.flatMap(({ file, text }) => [...text.matchAll(called)].map(([call]) => `${file}: ${call}`));
    expect(unnamed).toEqual(['src/payments/obtain-instrument.ts: failpoint(after)']);
    expect(found.length).toBeGreaterThan(60);
  });

  it('is armed by a test, which writes its name in full', () => {
    const isArmed = (name: string) => tests.some(({ text }) => text.includes(`'${name}'`) || text.includes(`${name}=`));
    expect(found.filter((name) => !isArmed(name))).toEqual([]);
  });
});
