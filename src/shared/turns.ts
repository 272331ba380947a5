import { DomainError } from './errors.ts';

/** Runs work one after another by key; what waits, waits in memory, and no longer than it says. */
export interface Turns {
  /**
   * Runs the work when every earlier one of this key has ended, and tells it how many milliseconds of `waitMs` are left.
   * Refuses with SERVICE_UNAVAILABLE, nothing done, when they have not ended by then.
   */
  take<T>(key: string, waitMs: number, work: (leftMs: number) => Promise<T>): Promise<T>;
}

const busy = (message: string): DomainError =>
  new DomainError('SERVICE_UNAVAILABLE', message, { retryAfterSeconds: 2 });
const tooLate = (): DomainError => busy('Others took too long before this; try again');

/** Turns by key, e.g. one payment of a user for a goal at a time within this process. */
export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>();
  return {
    take(key, waitMs, work) {
      const deadline = Date.now() + waitMs;
      const before = last.get(key) ?? Promise.resolve();
      return new Promise((resolve, reject) => {
        let isOver = false;
        const over = setTimeout(() => {
          isOver = true;
          reject(tooLate());
        }, waitMs);
        const mine = before.then(async () => {
          clearTimeout(over);
          // Whoever has been refused holds its turn until then, so that nobody behind it comes too early.
          try {
            if (!isOver) resolve(await work(Math.max(1, deadline - Date.now())));
          } catch (error) {
            reject(error);
          }
          if (last.get(key) === mine) last.delete(key);
        });
        last.set(key, mine);
      });
    },
  };
}

export interface Places {
  /** Waits for a place, at most `waitMs` (milliseconds), and answers what leaves it. Refuses with SERVICE_UNAVAILABLE. */
  enter(waitMs?: number): Promise<() => void>;
}

/**
 * A bound of so many at a time: `enter` waits for a place. At most `mostWaiting` wait; whoever comes then is refused, as
 * is whoever has waited for too long.
 */
export function createPlaces(count: number, mostWaiting = Number.POSITIVE_INFINITY): Places {
  let free = count;
  const waiting: (() => void)[] = [];
  const leave = () => {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  };
  return {
    async enter(waitMs) {
      if (free === 0 && waiting.length >= mostWaiting) throw busy('Too many are waiting for this; try again');
      if (free > 0) free -= 1;
      else await waitIn(waiting, waitMs);
      let isIn = true;
      return () => {
        if (isIn) leave();
        isIn = false;
      };
    },
  };
}

/** Waits in the line until it is called, or leaves it and refuses when it has waited for so long. */
function waitIn(line: (() => void)[], waitMs: number | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const over = waitMs === undefined ? undefined : setTimeout(giveUp, waitMs);
    line.push(call);
    function call(): void {
      clearTimeout(over);
      resolve();
    }
    function giveUp(): void {
      line.splice(line.indexOf(call), 1);
      reject(tooLate());
    }
  });
}
