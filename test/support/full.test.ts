import { currentIt } from './full.ts';

it('A test in full sizes is given to the file that declares it, although one module serves all files', () => {
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
