import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Test } from '@jest/test-result';

const { default: TestSequencer }: typeof import('@jest/test-sequencer') = createRequire(import.meta.url)(
  '@jest/test-sequencer',
);

/** Files that kill processes and wait for others to take over; then those with servers of their own; then the others. */
const turns = [/startProcessStack/, /own: true|startProduct|TimeSkipping|\bspawn|execFile/, /(?:)/];
const stack = /start(?:Process)?Stack\(([^)]*)\)/;
/** What two files may differ in that share a stack. */
const aside = /isImpatient: true,? ?|LOG_LEVEL: '\w+',? ?|own: isFull.*|, \.\.\..*/g;

/** The settings of the stack that a file shares with others, written in one way; those that few share come before the rest. */
function kindOf(text: string): string {
  const given = (stack.exec(text)?.[1] ?? '').replaceAll(/\s+/g, ' ').replace(aside, '').replace('env: { }', '');
  const settings = given.replaceAll(/^[{ ]+|[}, ]+$/g, '');
  const whole = settings.replace(/worker: true(?!, sandbox)/, 'worker: true, sandbox: true');
  return whole.includes('env') ? `env ${whole}` : whole;
}

/**
 * Slow files first, so that none of them runs alone at the end: those that kill processes, which mostly wait, among those that
 * start servers of their own, which mostly keep the processor busy. Then those that share a stack, one kind of stack after the
 * other, so that few are started. Among the same the larger file goes first.
 */
export default class Sequencer extends TestSequencer {
  override sort(tests: Test[]): Test[] {
    const known = tests.map((test) => {
      const text = readFileSync(test.path, 'utf8');
      const turn = turns.findIndex((one) => one.test(text));
      const kind = turn === 1 ? '' : kindOf(text);
      return { test, turn, kind, size: statSync(test.path).size };
    });
    const [waiting = [], starting = [], sharing = []] = turns.map((_, turn) =>
      known
        .filter((one) => one.turn === turn)
        .toSorted((left, right) => left.kind.localeCompare(right.kind) || right.size - left.size),
    );
    const spread = [waiting, starting].flatMap((files) =>
      files.map((file, index) => ({ file, at: (index + 1 / 2) / files.length })),
    );
    const slow = spread.toSorted((left, right) => left.at - right.at).map(({ file }) => file);
    return [...slow, ...sharing].map(({ test }) => test);
  }
}
