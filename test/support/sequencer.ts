import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Test } from '@jest/test-result';

const { default: TestSequencer }: typeof import('@jest/test-sequencer') = createRequire(import.meta.url)(
  '@jest/test-sequencer',
);

/** Files that kill processes and wait for others to take over; then those with their own servers; then the rest. */
const turns = [/startProcessStack/, /own: true|startProduct|TimeSkipping|\bspawn|execFile/, /(?:)/];
const stack = /start(?:Process)?Stack\(([^)]*)\)/;
/** Settings in which two files that share a stack may differ. */
const aside = /isImpatient: true,? ?|LOG_LEVEL: '\w+',? ?|own: isFull.*|, \.\.\..*/g;

/** The normalized settings of the stack that a file shares with others; files with rare settings come first. */
function kindOf(text: string): string {
  const given = (stack.exec(text)?.[1] ?? '').replaceAll(/\s+/g, ' ').replace(aside, '').replace('env: { }', '');
  const settings = given.replaceAll(/^[{ ]+|[}, ]+$/g, '');
  const whole = settings.replace(/worker: true(?!, sandbox)/, 'worker: true, sandbox: true');
  return whole.includes('env') ? `env ${whole}` : whole;
}

/**
 * Orders test files: slow files first, so that none runs alone at the end; then by the settings of the stack that they
 * share, so that few stacks are started; then larger files first.
 */
export default class Sequencer extends TestSequencer {
  override sort(tests: Test[]): Test[] {
    const known = tests.map((test) => {
      const text = readFileSync(test.path, 'utf8');
      const turn = turns.findIndex((one) => one.test(text));
      const kind = turn === 1 ? '' : kindOf(text);
      return { test, turn, kind, size: statSync(test.path).size };
    });
    return known
      .toSorted(
        (left, right) => left.turn - right.turn || left.kind.localeCompare(right.kind) || right.size - left.size,
      )
      .map(({ test }) => test);
  }
}
