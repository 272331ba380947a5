import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { keepBounds } from '../../bench/bounds.ts';
import { itInFull } from '../support/full.ts';

const runFile = promisify(execFile);
const benchMs = 300_000;

/** Each bench with its smallest size, and text that its output must contain. */
const benches: [name: string, args: string[], names: RegExp][] = [
  [
    'balance',
    ['--rounds', '1', '--seconds', '0.2', '--connections', '16', '--keys', '--apis', '2'],
    /\(c\) POST \/v1\/payments\/balance/,
  ],
  ['lists', ['--small', '10000', '--large', '20000', '--rounds', '2'], /owner, first page/],
  ['growth', ['--rows', '1000,2000'], /check_journals_balance/],
  [
    'gateway',
    ['--rounds', '1', '--seconds', '1', '--warm', '0.5', '--completing', '1', '--filling', '1'],
    /from the request until settled/,
  ],
  [
    'payouts',
    ['--rounds', '1', '--alone', '1', '--together', '6', '--crowd', '3', '--partners', '2'],
    /payouts of one partner/,
  ],
  ['batches', ['--count', '12', '--around', '2'], /A batch of 12: reserved in/],
  ['collect', ['--rounds', '1', '--alone', '1', '--together', '6', '--crowd', '3'], /CPU ms for one/],
  ['circles', ['--few', '2', '--many', '4', '--measured', '1', '--members', '3'], /circles live/],
  [
    'webhooks',
    ['--rounds', '1', '--payments', '2', '--backlog', '12', '--settle', '2'],
    /beside an endpoint that hangs/,
  ],
  ['sweeps', ['--rows', '300', '--starts', '1000'], /seconds of sweeping/],
];

describe('Benches', () => {
  itInFull.each(benches)(
    'The %s bench runs at its smallest size and reports no wrong result',
    async (name, args, names) => {
      const script = join(import.meta.dirname, '..', '..', 'bench', `${name}.ts`);
      const { NODE_OPTIONS: _, ...env } = process.env;
      const { stdout } = await runFile(process.execPath, [script, '--smallest', ...args], { env, timeout: benchMs });
      expect(stdout).toMatch(names);
      expect(stdout).not.toContain('WRONG');
    },
    benchMs,
  );

  it('A bench reports every figure that misses its bound', () => {
    const said: string[] = [];
    const say = (text: string) => void said.push(text);
    expect(keepBounds([{ figure: 'kept', value: 0.5, least: 0.5, wanted: 0.7 }], say)).toBe(true);
    expect(keepBounds([{ figure: 'kept', value: 3, most: 3 }], say)).toBe(true);
    expect(said).toEqual(['kept: 0.50 (at least 0.5, wanted 0.7)', 'kept: 3.00 (at most 3)']);
    for (const missed of [
      { value: 0.49, least: 0.5 },
      { value: 3.1, most: 3 },
      { value: Number.NaN, least: 0 },
    ]) {
      said.length = 0;
      expect(
        keepBounds(
          [
            { figure: 'kept', value: 1, least: 1 },
            { figure: 'missed', ...missed },
          ],
          say,
        ),
      ).toBe(false);
      expect(said[1]).toMatch(/^missed: .* MISSED$/);
    }
  });
});
