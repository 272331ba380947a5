import { refuse } from '../shared/errors.ts';

export interface UploadLimits {
  /** Of one user at once, in this process. */
  perUser: number;
  /** Of all users at once, in this process. */
  inAll: number;
}

const retryAfterSeconds = 5;

/**
 * Counts the uploads that are under way in a process. `take` gives a slot, which is free again when it is disposed of,
 * and refuses with TOO_MANY_REQUESTS what is beyond the limits.
 */
export function createUploadSlots(): { take(userId: string, limits: UploadLimits): Disposable } {
  const taken = new Map<string, number>();
  let inAll = 0;
  return {
    take(userId, limits) {
      const own = taken.get(userId) ?? 0;
      if (own >= limits.perUser) {
        const message = `You have ${own} uploads under way; at most ${limits.perUser} are taken at once`;
        refuse('TOO_MANY_REQUESTS', message, { retryAfterSeconds });
      }
      if (inAll >= limits.inAll) {
        refuse('TOO_MANY_REQUESTS', 'Too many uploads are under way; try again', { retryAfterSeconds });
      }
      taken.set(userId, own + 1);
      inAll += 1;
      return {
        [Symbol.dispose]() {
          const left = (taken.get(userId) ?? 0) - 1;
          if (left > 0) taken.set(userId, left);
          else taken.delete(userId);
          inAll -= 1;
        },
      };
    },
  };
}
