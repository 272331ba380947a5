import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { eventually } from './eventually.ts';
import { followClock, moveClock } from './moved-clock.ts';

const hourMs = 3_600_000;
const directory = mkdtempSync(join(tmpdir(), 'amanah-clock-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** A program that prints all its clocks for each line it reads. */
const teller = `
  import { createInterface } from 'node:readline';
  const began = performance.now();
  createInterface({ input: process.stdin }).on('line', () => {
    const clocks = { now: Date.now(), made: new Date().getTime(), called: Date.parse(Date()), since: performance.now() - began };
    const same = [new Date(5).getTime() === 5, new Date() instanceof Date, new Date().constructor === Date, Date.UTC(1970, 0) === 0];
    console.log(JSON.stringify({ ...clocks, isDate: same.every(Boolean) }));
  });`;

it('A process follows its clock file: its wall clock moves, its monotonic clock and given dates do not', async () => {
  const file = join(directory, 'clock');
  const child = spawn(process.execPath, ['--input-type=module', '--eval', teller], {
    env: { ...process.env, ...followClock(file) },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async () => {
    child.stdin.write('\n');
    const { value } = await lines.next();
    return JSON.parse(value ?? '') as { now: number; made: number; called: number; since: number; isDate: boolean };
  };
  const hoursAhead = (instant: number) => Math.round((instant - Date.now()) / hourMs) + 0;
  try {
    expect(hoursAhead((await ask()).now)).toBe(0);
    for (const hours of [7, -30, 0]) {
      moveClock(file, hours * hourMs);
      const told = await eventually(ask, ({ now }) => hoursAhead(now) === hours);
      expect([told.made, told.called].map(hoursAhead)).toEqual([hours, hours]);
      expect(told.since).toBeLessThan(hourMs);
      expect(told.since).toBeGreaterThan(0);
      expect(told.isDate).toBe(true);
    }
  } finally {
    child.kill();
  }
});
