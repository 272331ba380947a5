import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Test } from '@jest/test-result';

const { default: TestSequencer }: typeof import('@jest/test-sequencer') = createRequire(import.meta.url)(
  '@jest/test-sequencer',
);

/** What a file waits for long: processes that it kills, servers of its own. */
const slow = /startProcessStack|startProduct|TimeSkipping|own: true|\bspawn\b|execFile/;
const stack = /start(?:Process)?Stack\(([^)]*)\)/;

/** What two files may differ in that share a stack. */
const aside = /isImpatient: true,? ?|LOG_LEVEL: '\w+',? ?/g;

/**
 * Slow files first, so that none of them runs alone at the end; then those that share a stack, one kind of stack after the
 * other, so that few are started. Within either the larger file goes first.
 */
export default class Sequencer extends TestSequencer {
  override sort(tests: Test[]): Test[] {
    const known = tests.map((test) => {
      const text = readFileSync(test.path, 'utf8');
      const isSlow = slow.test(text);
      return {
        test,
        isSlow,
        kind: isSlow ? '' : (stack.exec(text)?.[1] ?? '').replace(aside, ''),
        size: statSync(test.path).size,
      };
    });
    return known
      .toSorted(
        (left, right) =>
          Number(right.isSlow) - Number(left.isSlow) || left.kind.localeCompare(right.kind) || right.size - left.size,
      )
      .map(({ test }) => test);
  }
}
