import { flag } from './stack.ts';

/** A figure and its bounds; `wanted` is the goal. */
export interface Bound {
  /** The compared figure. */
  figure: string;
  value: number;
  least?: number;
  most?: number;
  wanted?: number;
}

/** The smallest run (`--smallest`) only shows that the bench works: its figures mean nothing and never fail the run. */
const isSmallest = flag('smallest');

/**
 * Prints each figure beside its bound. Returns whether all bounds hold; a figure that was not measured (NaN) counts as
 * missed.
 */
export function keepBounds(bounds: readonly Bound[], say: (text: string) => void): boolean {
  const outcomes = bounds.map(({ figure, value, least, most, wanted }) => {
    const isKept = (least === undefined || value >= least) && (most === undefined || value <= most);
    const said = [
      ...(least === undefined ? [] : [`at least ${least}`]),
      ...(most === undefined ? [] : [`at most ${most}`]),
      ...(wanted === undefined ? [] : [`wanted ${wanted}`]),
    ];
    say(`${figure}: ${value.toFixed(2)} (${said.join(', ')})${isKept ? '' : ' MISSED'}`);
    return isKept;
  });
  return outcomes.every((isKept) => isKept);
}

/**
 * Finishes a bench: prints the problems; fails on any problem and, except in the smallest run, on a missed bound.
 */
export function endBench(
  { problems, bounds }: { problems: readonly string[]; bounds: readonly Bound[] },
  say: (text: string) => void,
): void {
  say('');
  const areKept = keepBounds(bounds, say);
  for (const problem of new Set(problems)) say(`WRONG: ${problem}`);
  if (problems.length > 0 || !(areKept || isSmallest)) process.exitCode = 1;
}
