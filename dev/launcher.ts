import { existsSync, readFileSync } from 'node:fs';
import { isRunning, type ProcessRecord, startMarkOf } from './process-records.ts';

const pollMs = 1_000;

/**
 * Calls back when the npm that started this process exits for any reason: killing npm does not stop us, because the
 * shell in between forwards no signals. Does nothing if npm did not start us.
 */
export function whenNpmEnds(callback: () => void): void {
  if (process.env.npm_lifecycle_event === undefined) return;
  const launchers = findLaunchers();
  const watch = setInterval(() => {
    if (launchers.every(isRunning)) return;
    clearInterval(watch);
    callback();
  }, pollMs);
  watch.unref();
}

/** Our parent process and, if that is npm's shell, the shell's parent. */
function findLaunchers(): ProcessRecord[] {
  const pids = [process.ppid];
  const stat = `/proc/${process.ppid}/stat`;
  if (existsSync(stat)) {
    const [, name = '', parent = ''] = /\((.*)\) \S (\d+)/.exec(readFileSync(stat, 'utf8')) ?? [];
    if (/^(sh|dash|ash|bash)$/.test(name)) pids.push(Number(parent));
  }
  return pids.flatMap((pid) => {
    const startMark = startMarkOf(pid);
    return startMark === undefined ? [] : [{ name: 'npm', pid, startMark }];
  });
}
