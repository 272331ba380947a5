import { DomainError } from './errors.ts';

/** The refusal of work that would wait too long: nothing was done, and the caller can retry. */
export const busy = (message: string): DomainError =>
  new DomainError('SERVICE_UNAVAILABLE', message, { retryAfterSeconds: 2 });
export const tooLate = (): DomainError => busy('The requests before this one took too long; try again');

export interface Semaphore {
  /**
   * Waits for a place, at most `waitMs` milliseconds; resolves to the function that frees it. Callers with `goesFirst`
   * get every second place, so that neither group of callers delays the other for long. Throws SERVICE_UNAVAILABLE.
   */
  enter(options?: { key?: string; goesFirst?: boolean; waitMs?: number }): Promise<() => void>;
}

export interface SemaphoreBounds {
  /** Maximum places for one key. */
  perKey?: number;
  /** Maximum waiters for one key; more are refused. */
  mostWaiting?: number;
}

interface Waiter {
  key: string;
  goesFirst: boolean;
  call(): void;
}

/**
 * Maximum keys remembered: beyond it all are forgotten, so that a flood of new keys does not starve the earlier ones.
 */
const mostServed = 10_000;

/**
 * A semaphore of `count` places; `enter` waits for one. A free place goes to the eligible key served longest ago, first
 * come first served within a key, so that a busy key never delays another. Waiters are refused after a time-out.
 */
export function createSemaphore(
  count: number,
  { perKey = count, mostWaiting = Number.POSITIVE_INFINITY }: SemaphoreBounds = {},
): Semaphore {
  let free = count;
  const taken = new Map<string, number>();
  /** The number of each key's latest entry; cleared if a place is freed and nobody waits, and if there are many. */
  const served = new Map<string, number>();
  let entries = 0;
  const line: Waiter[] = [];
  /** Whether the last waiter called went first. */
  let firstWent = false;
  const mayEnter = (key: string) => free > 0 && (taken.get(key) ?? 0) < perKey;
  const move = (key: string, by: 1 | -1) => {
    const now = (taken.get(key) ?? 0) + by;
    if (now === 0) taken.delete(key);
    else taken.set(key, now);
    free -= by;
    if (by === 1) served.set(key, ++entries);
    else if (line.length === 0 || served.size > mostServed) served.clear();
  };
  const before = (a: Waiter, b: Waiter) =>
    Number(a.goesFirst === firstWent) - Number(b.goesFirst === firstWent) ||
    (served.get(a.key) ?? 0) - (served.get(b.key) ?? 0);
  const leave = (key: string) => {
    move(key, -1);
    const [waiter] = line.filter(({ key }) => mayEnter(key)).toSorted(before);
    if (waiter === undefined) return;
    line.splice(line.indexOf(waiter), 1);
    firstWent = waiter.goesFirst;
    move(waiter.key, 1);
    waiter.call();
  };
  return {
    async enter({ key = '', goesFirst = false, waitMs } = {}) {
      if (mayEnter(key)) move(key, 1);
      else if (line.filter((waiter) => waiter.key === key).length < mostWaiting)
        await waitIn(line, { key, goesFirst }, waitMs);
      else throw busy('Too many are waiting for this; try again');
      let isIn = true;
      return () => {
        if (isIn) leave(key);
        isIn = false;
      };
    },
  };
}

/** Waits in line until called, with the place already taken. Throws after `waitMs`. */
function waitIn(line: Waiter[], who: Omit<Waiter, 'call'>, waitMs: number | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const over = waitMs === undefined ? undefined : setTimeout(giveUp, waitMs);
    const waiter = {
      ...who,
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

/**
 * Does the work for each item in turn, starting at a random one. A failure does not stop the others, and if time is
 * short, each run favours different items. Throws all failures at the end.
 */
export async function forEachOf<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const failures: unknown[] = [];
  const first = Math.floor(Math.random() * items.length);
  for (const item of [...items.slice(first), ...items.slice(0, first)]) {
    await work(item).catch((error: unknown) => failures.push(error));
  }
  if (failures.length === 1) throw failures[0];
  if (failures.length > 1) throw new AggregateError(failures, `${failures.length} of ${items.length} failed`);
}
