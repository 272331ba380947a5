import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { isMainThread } from 'node:worker_threads';

/**
 * Moves a process's wall clock while it runs, as an operator or a broken time server might. Loaded before everything
 * else (`--import`), it offsets `Date` by the number in a small file. The monotonic clock is unaffected, as are
 * threads, whose workflows have Temporal's own `Date`.
 */
const fileVariable = 'MOVED_CLOCK_FILE';
const readEveryMs = 50;

/** The variables of a process whose clock follows this file. */
export const followClock = (file: string): { NODE_OPTIONS: string; [fileVariable]: string } => ({
  NODE_OPTIONS: `--import=${pathToFileURL(import.meta.filename).href}`,
  [fileVariable]: file,
});

/** Sets the clocks of all processes that follow this file to a number of milliseconds from the correct time. */
export function moveClock(file: string, offsetMs: number): void {
  // A concurrent reader must read a complete number.
  writeFileSync(`${file}.new`, String(offsetMs));
  renameSync(`${file}.new`, file);
}

function patchDate(file: string): void {
  const trueNow = Date.now;
  let offsetMs = 0;
  const read = () => {
    try {
      offsetMs = Number(readFileSync(file, 'utf8'));
    } catch {
      // The clock has not been moved yet.
    }
  };
  read();
  setInterval(read, readEveryMs).unref();
  const now = () => trueNow() + offsetMs;
  const moved: DateConstructor = new Proxy(Date, {
    construct: (target, given, self) => Reflect.construct(target, given.length === 0 ? [now()] : given, self),
    apply: () => new moved().toString(),
  });
  Date.now = now;
  Date.prototype.constructor = moved;
  globalThis.Date = moved;
}

const file = process.env[fileVariable];
if (file !== undefined && isMainThread) patchDate(file);
