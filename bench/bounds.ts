import { flag } from './stack.ts';

/** What a figure has to be; `wanted` is where it shall get to. */
export interface Bound {
  /** What is compared with what. */
  figure: string;
  value: number;
  least?: number;
  most?: number;
  wanted?: number;
}

/** A run in its smallest size (`--smallest`) shows that the bench works: its figures mean nothing, and fail nothing. */
const isSmallest = flag('smallest');

/** Prints each figure beside its bound. Answers whether all are kept; what was not measured (NaN) is not kept. */
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

/** Ends a bench: what is wrong is told, and it fails by that, or by a missed bound unless it is the smallest run. */
export function endBench(
  { problems, bounds }: { problems: readonly string[]; bounds: readonly Bound[] },
  say: (text: string) => void,
): void {
  say('');
  const areKept = keepBounds(bounds, say);
  for (const problem of new Set(problems)) say(`WRONG: ${problem}`);
  if (problems.length > 0 || !(areKept || isSmallest)) process.exitCode = 1;
}
