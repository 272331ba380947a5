import { currentIt } from './full.ts';

it('currentIt registers a test in the file that declares it, although all files share its module', () => {
  const given: string[] = [];
  const ours = globalThis.it;
  const other = Object.assign((name: string) => void given.push(name), {
    each: (cases: readonly string[]) => () => void given.push(...cases),
  });
  try {
    globalThis.it = other as unknown as typeof it;
    currentIt('one', () => undefined);
    currentIt.each(['two'])('%s', () => undefined);
  } finally {
    globalThis.it = ours;
  }
  expect(given).toEqual(['one', 'two']);
});
