import { DomainError } from './errors.ts';

/** Runs work one after another by key; what waits, waits in memory, and no longer than it says. */
export interface KeyedMutex {
  /**
   * Runs the work when every earlier one of this key has ended, and tells it how many milliseconds of `waitMs` are left.
   * Refuses with SERVICE_UNAVAILABLE, nothing done, when they have not ended by then.
   */
  take<T>(key: string, waitMs: number, work: (leftMs: number) => Promise<T>): Promise<T>;
}

/** A refusal of what would have to wait for too long: nothing was done, and a retry makes sense. */
export const busy = (message: string): DomainError =>
  new DomainError('SERVICE_UNAVAILABLE', message, { retryAfterSeconds: 2 });
export const tooLate = (): DomainError => busy('Others took too long before this; try again');

/** A mutex for each key, e.g. one payment of a user for a goal at a time within this process. */
export function createKeyedMutex(): KeyedMutex {
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

export interface Semaphore {
  /** Waits for a place, at most `waitMs` (milliseconds), and answers what leaves it. Refuses with SERVICE_UNAVAILABLE. */
  enter(options?: { key?: string; waitMs?: number }): Promise<() => void>;
}

export interface SemaphoreBounds {
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
 * A bound of so many at a time: `enter` waits for a place. The next goes to the key that may have another and was served
 * the longest ago, to the first in the line of that key: many of one key never hold up another's one. Whoever has waited
 * for too long is refused.
 */
export function createSemaphore(
  count: number,
  { perKey = count, mostWaiting = Number.POSITIVE_INFINITY }: SemaphoreBounds = {},
): Semaphore {
  let free = count;
  const taken = new Map<string, number>();
  /** Which entry the last one of each key was; forgotten when a place is left and nobody waits. */
  const served = new Map<string, number>();
  let entries = 0;
  const line: Waiter[] = [];
  const mayEnter = (key: string) => free > 0 && (taken.get(key) ?? 0) < perKey;
  const move = (key: string, by: 1 | -1) => {
    const now = (taken.get(key) ?? 0) + by;
    if (now === 0) taken.delete(key);
    else taken.set(key, now);
    free -= by;
    if (by === 1) served.set(key, ++entries);
    else if (line.length === 0) served.clear();
  };
  const servedBefore = (a: Waiter, b: Waiter) => (served.get(a.key) ?? 0) - (served.get(b.key) ?? 0);
  const leave = (key: string) => {
    move(key, -1);
    const [waiter] = line.filter(({ key }) => mayEnter(key)).toSorted(servedBefore);
    if (waiter === undefined) return;
    line.splice(line.indexOf(waiter), 1);
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
