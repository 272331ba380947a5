import type { ChildProcess } from 'node:child_process';

export interface KeepOptions {
  /** The signal that asks the foreign process to stop. */
  stopSignal: NodeJS.Signals;
  /** The signal sent if it has not stopped within the grace period. */
  hardSignal: NodeJS.Signals;
  graceMs: number;
}

/**
 * Ties a foreign process to this one, and this one to the parent's channel: when the parent exits, even by kill -9, or
 * sends a request to stop, the foreign process is stopped; when that exits, so does this one. Call it as soon as the
 * process exists.
 */
export function keep(child: ChildProcess, { stopSignal, hardSignal, graceMs }: KeepOptions): void {
  let stopping = false;
  const stop = () => {
    if (stopping) return;
    stopping = true;
    child.kill(stopSignal);
    setTimeout(() => child.kill(hardSignal), graceMs).unref();
    setTimeout(() => child.kill('SIGKILL'), graceMs * 2).unref();
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('disconnect', stop);
  process.on('exit', () => child.kill('SIGKILL'));
  child.once('exit', () => process.exit(stopping ? 0 : 1));
  if (process.channel && !process.connected) stop();
}

/** Reports to the parent why this part cannot run, in one sentence, and exits. */
export async function fail(sentence: string): Promise<never> {
  if (process.send) await new Promise((resolve) => process.send?.({ failed: sentence }, resolve));
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}
