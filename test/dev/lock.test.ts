import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockDataDirectory } from '../../dev/lock.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lock-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

describe('The lock on a data directory', () => {
  it('Only one process holds the lock on a data directory; the error for a second one names the holder', () => {
    const lock = lockDataDirectory(directory);
    expect(() => lockDataDirectory(directory)).toThrow(
      `A stack already runs on ${directory} (process ${process.pid}): stop it first, or set DATA_DIR to another directory.`,
    );
    lock.release();
    lockDataDirectory(directory).release();
  });

  it('A killed process releases its lock on the data directory', async () => {
    const source = `const { lockDataDirectory } = await import(${JSON.stringify(join(import.meta.dirname, '../../dev/lock.ts'))});
      // Referenced, because a garbage-collected lock is released.
      globalThis.lock = lockDataDirectory(${JSON.stringify(directory)}); console.log('locked'); setInterval(() => {}, 1000);`;
    const holder = spawn(process.execPath, ['--input-type=module', '--eval', source], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    try {
      await once(holder.stdout, 'data');
      expect(() => lockDataDirectory(directory)).toThrow(`(process ${holder.pid})`);
    } finally {
      holder.kill('SIGKILL');
    }
    await once(holder, 'exit');
    lockDataDirectory(directory).release();
  });
});
