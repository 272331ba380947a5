import { refuse } from './errors.ts';

/** Runs deeds one after another by key, and at most so many at a time; what waits, waits in memory. */
export interface Turns {
  /** Runs the deed when every earlier one of this key has ended. */
  take<T>(key: string, deed: () => Promise<T>): Promise<T>;
}

/** Turns by key, e.g. one payment of a user for a goal at a time within this process. */
export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>();
  return {
    async take(key, deed) {
      const before = last.get(key);
      const mine = (before ?? Promise.resolve()).then(deed, deed);
      last.set(key, mine);
      try {
        return await mine;
      } finally {
        if (last.get(key) === mine) last.delete(key);
      }
    },
  };
}

/**
 * A bound of so many at a time: `enter` waits for a place and answers what leaves it. At most `mostWaiting` wait;
 * whoever comes then is refused with SERVICE_UNAVAILABLE.
 */
export function createPlaces(count: number, mostWaiting = Number.POSITIVE_INFINITY): { enter(): Promise<() => void> } {
  let free = count;
  const waiting: (() => void)[] = [];
  const leave = () => {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  };
  return {
    async enter() {
      if (free === 0 && waiting.length >= mostWaiting) {
        refuse('SERVICE_UNAVAILABLE', 'Too many are waiting for this; try again', { retryAfterSeconds: 2 });
      }
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      let isIn = true;
      return () => {
        if (isIn) leave();
        isIn = false;
      };
    },
  };
}
