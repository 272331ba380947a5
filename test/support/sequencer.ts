import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Test } from '@jest/test-result';

const { default: TestSequencer }: typeof import('@jest/test-sequencer') = createRequire(import.meta.url)(
  '@jest/test-sequencer',
);

/** Files that kill processes and wait for others to take over; then those with servers of their own; then the others. */
const turns = [/startProcessStack/, /own: true|startProduct|TimeSkipping|\bspawn|execFile/, /(?:)/];
const stack = /start(?:Process)?Stack\(([^)]*)\)/;
/** The settings in which two files that share a stack may differ. */
const aside = /isImpatient: true,? ?|LOG_LEVEL: '\w+',? ?/g;

/**
 * Slow files first, so that none of them runs alone at the end; then those that share a stack, grouped by kind of
 * stack, so that few are started. Otherwise the larger file goes first.
 */
export default class Sequencer extends TestSequencer {
  override sort(tests: Test[]): Test[] {
    const known = tests.map((test) => {
      const text = readFileSync(test.path, 'utf8');
      const turn = turns.findIndex((one) => one.test(text));
      const kind = turn === 1 ? '' : (stack.exec(text)?.[1] ?? '').replace(aside, '');
      return { test, turn, kind, size: statSync(test.path).size };
    });
    return known
      .toSorted(
        (left, right) => left.turn - right.turn || left.kind.localeCompare(right.kind) || right.size - left.size,
      )
      .map(({ test }) => test);
  }
}
