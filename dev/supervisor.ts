import { setTimeout as sleep } from 'node:timers/promises';
import type { Part } from './part.ts';
import { endProcess, startMarkOf } from './process-records.ts';

export interface SupervisedPart {
  readonly name: string;
  readonly part: Part;
  stop(): Promise<void>;
}

const firstDelayMs = 500;
const longestDelayMs = 10_000;
/** A part that ran for longer than this restarts after the shortest pause. */
const steadyMs = 30_000;

/** Starts a part and restarts it, with growing pauses, whenever it exits unexpectedly; reports through `say`. */
export async function supervise(
  start: () => Promise<Part>,
  say: (sentence: string) => void,
  signal: AbortSignal,
): Promise<SupervisedPart> {
  let part = await start();
  let stopping = false;
  const { name } = part;

  async function watch(): Promise<void> {
    let delayMs = firstDelayMs;
    for (;;) {
      const startedAt = Date.now();
      const leftover = innerRecord(part);
      const { code, signal: killer } = await part.exited;
      if (stopping || signal.aborted) return;
      if (Date.now() - startedAt > steadyMs) delayMs = firstDelayMs;
      say(`${name} exited (${killer ?? `code ${code}`}); restarting it`);
      if (leftover) await endProcess(leftover);
      for (let started = false; !started; ) {
        await sleep(delayMs, undefined, { signal }).catch(() => undefined);
        delayMs = Math.min(delayMs * 2, longestDelayMs);
        if (stopping || signal.aborted) return;
        try {
          part = await start();
          started = true;
        } catch (error) {
          if (stopping || signal.aborted) return;
          say(`${name} did not restart: ${Error.isError(error) ? error.message : String(error)}`);
        }
      }
      say(`${name} runs again`);
    }
  }

  const watching = watch();
  return {
    name,
    get part() {
      return part;
    },
    stop: async () => {
      stopping = true;
      await part.stop();
      await Promise.race([watching, part.exited]);
    },
  };
}

/** The foreign process inside a part, which outlives a keeper killed by kill -9. */
function innerRecord({ name, inner }: Part) {
  const startMark = inner === undefined ? undefined : startMarkOf(inner);
  return inner === undefined || startMark === undefined ? undefined : { name, pid: inner, startMark };
}
