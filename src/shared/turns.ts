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
      const endsAt = performance.now() + waitMs;
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
            if (!isOver) resolve(await work(Math.max(1, endsAt - performance.now())));
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
  enter(options?: { key?: string; waitMs?: number }): Promise<() => void>;
}

export interface PlaceBounds {
  /** So many of one key have a place at a time; the rest is left to others. */
  perKey?: number;
  /** So many of one key wait at most; whoever comes then is refused. */
  mostWaiting?: number;
}

interface Waiter {
  key: string;
  call(): void;
}

/**
 * A bound of so many at a time: `enter` waits for a place. The first in the line whose key may have another place gets
 * the next; whoever has waited for too long is refused.
 */
export function createPlaces(
  count: number,
  { perKey = count, mostWaiting = Number.POSITIVE_INFINITY }: PlaceBounds = {},
): Places {
  let free = count;
  const taken = new Map<string, number>();
  const line: Waiter[] = [];
  const mayEnter = (key: string) => free > 0 && (taken.get(key) ?? 0) < perKey;
  const move = (key: string, by: 1 | -1) => {
    const now = (taken.get(key) ?? 0) + by;
    if (now === 0) taken.delete(key);
    else taken.set(key, now);
    free -= by;
  };
  const leave = (key: string) => {
    move(key, -1);
    const next = line.findIndex((waiter) => mayEnter(waiter.key));
    const [waiter] = next < 0 ? [] : line.splice(next, 1);
    if (waiter === undefined) return;
    move(waiter.key, 1);
    waiter.call();
  };
  return {
    async enter({ key = '', waitMs } = {}) {
      if (mayEnter(key)) move(key, 1);
      else if (line.filter((waiter) => waiter.key === key).length < mostWaiting) await waitIn(line, key, waitMs);
      else throw busy('Too many are waiting for this; try again');
      let isIn = true;
      return () => {
        if (isIn) leave(key);
        isIn = false;
      };
    },
  };
}

/** Waits in the line until it is called, its place taken, or leaves it and refuses when it has waited for so long. */
function waitIn(line: Waiter[], key: string, waitMs: number | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const over = waitMs === undefined ? undefined : setTimeout(giveUp, waitMs);
    const waiter = {
      key,
      call: () => {
        clearTimeout(over);
        resolve();
      },
    };
    line.push(waiter);
    function giveUp(): void {
      line.splice(line.indexOf(waiter), 1);
      reject(tooLate());
    }
  });
}
