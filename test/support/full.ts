import { isFullRun } from './run.ts';

type Run = typeof it;

const leaveOut = Object.assign(() => undefined, { each: () => leaveOut }) as unknown as Run;

/**
 * `it` in `npm run test:full`, skipped in `npm test`: for cross products, full sizes, and further variants of what a
 * neighbouring test shows. Every law, route, refusal and failpoint keeps a test that always runs.
 */
export const itInFull: Run = isFullRun() ? it : leaveOut;

/** All cases in `npm run test:full`; in `npm test` only those for which `standing` holds, by default the first. */
export const casesOf = <T>(
  cases: readonly T[],
  standing: (one: T, index: number) => boolean = (_, index) => index === 0,
): T[] => cases.filter((one, index) => isFullRun() || standing(one, index));
