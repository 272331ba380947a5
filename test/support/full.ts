import { isFullRun } from './run.ts';

type Run = typeof it;

const leaveOut = Object.assign(() => undefined, { each: () => leaveOut }) as unknown as Run;

/**
 * `it` of the test file that is being loaded. A jest worker loads this module once for all its files
 * (native-runtime.ts), and each file has an `it` of its own: tests registered with an earlier file's `it` never run.
 */
export const currentIt: Run = new Proxy(leaveOut, {
  apply: (_, self, args) => Reflect.apply(it, self, args),
  get: (_, name) => Reflect.get(it, name),
});

/**
 * `it` in `npm run test:full`, skipped in `npm test`: for cross products, full sizes, and further variants of what a
 * neighbouring test shows. Every law, route, refusal and failpoint keeps a test that always runs.
 */
export const itInFull: Run = isFullRun() ? currentIt : leaveOut;

/** All cases in `npm run test:full`; in `npm test` only those for which `standing` holds, by default the first. */
export const casesOf = <T>(
  cases: readonly T[],
  standing: (one: T, index: number) => boolean = (_, index) => index === 0,
): T[] => cases.filter((one, index) => isFullRun() || standing(one, index));
