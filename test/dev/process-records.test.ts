import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRunning, ProcessRecords, startMarkOf } from '../../dev/process-records.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'records-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

async function startSleeper() {
  const child = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1000); console.log(1)']);
  await once(child.stdout, 'data');
  const { pid } = child;
  if (pid === undefined) throw new Error('no process');
  return { child, pid };
}

describe('Leftover processes of a killed stack', () => {
  it('The next start stops a killed stack’s leftover processes, identified by process id and start time', async () => {
    const { child, pid } = await startSleeper();
    new ProcessRecords(directory).add('sleeper', pid);
    const exited = once(child, 'exit');
    expect(await new ProcessRecords(directory).endLeftovers()).toEqual(['sleeper']);
    await exited;
    expect(startMarkOf(pid)).toBeUndefined();
  });

  it('A process that reuses the id of a leftover process is not stopped', async () => {
    const { child, pid } = await startSleeper();
    const file = join(directory, 'processes.json');
    writeFileSync(file, JSON.stringify([{ name: 'sleeper', pid, startMark: 'another' }]));
    expect(await new ProcessRecords(directory).endLeftovers()).toEqual([]);
    expect(isRunning({ name: 'sleeper', pid, startMark: startMarkOf(pid) ?? '' })).toBe(true);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual([]);
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
});
