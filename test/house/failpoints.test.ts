import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const read = (pattern: string) =>
  globSync(pattern, { cwd: root }).map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));

const sources = read('{src,workflows,activities}/**/*.ts').filter(({ file }) => file !== 'src/shared/failpoint.ts');
const tests = read('test/**/*.ts').filter(({ file }) => !file.startsWith('test/house/'));

/** The code of a test, without comments and without strings that it only compares. */
const doneBy = (text: string) => text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$|[!=]== '[^']*'/gm, '');
const arms = /\b(?:arm|armFailpoints|holdAt)\((?!'')|\b(?:FAILPOINTS|workerFailpoints): /;
const arming = tests.filter(({ text }) => arms.test(doneBy(text)));
/** A test may import its list of failpoints from another file. */
const handedOn = arming.flatMap(({ file, text }) =>
  [...text.matchAll(/from '(\.[^']+)'/g)].map(([, path = '']) => join(dirname(file), path)),
);
const armingCode = tests
  .filter((test) => arming.includes(test) || handedOn.includes(test.file))
  .map(({ text }) => doneBy(text));

/** A failpoint is named in the call, or passed on as `after`. */
const named = /(?:\bfailpoint\(|\bafter = )'([^']+)'/g;
const called = /\bfailpoint\((?!')([^)]*)\)/g;
const found = sources.flatMap(({ text }) => [...text.matchAll(named)].map(([, name = '']) => name));

describe('Failpoints', () => {
  it('Every failpoint of the product has a literal name', () => {
    const unnamed = sources.flatMap(({ file, text }) => [...text.matchAll(called)].map(([call]) => `${file}: ${call}`));
    expect(unnamed).toEqual(['src/money-in/payments/obtain-instrument.ts: failpoint(after)']);
    expect(found.length).toBeGreaterThan(60);
  });

  it('Every failpoint is armed by a test that contains its full name', () => {
    const isArmed = (name: string) =>
      armingCode.some((code) => code.includes(`'${name}'`) || code.includes(`'${name}=`));
    expect(found.filter((name) => !isArmed(name))).toEqual([]);
  });
});
