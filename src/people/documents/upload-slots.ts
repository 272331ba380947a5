import { refuse } from '../../shared/errors.ts';

export interface UploadLimits {
  /** Maximum concurrent uploads of one user in this process. */
  perUser: number;
  /** Maximum concurrent uploads of all users in this process. */
  inAll: number;
}

const retryAfterSeconds = 5;

/**
 * Counts the uploads in progress in this process. `take` returns a slot, freed by disposing of it, and throws
 * TOO_MANY_REQUESTS beyond the limits.
 */
export function createUploadSlots(): { take(userId: string, limits: UploadLimits): Disposable } {
  const taken = new Map<string, number>();
  let inAll = 0;
  return {
    take(userId, limits) {
      const own = taken.get(userId) ?? 0;
      if (own >= limits.perUser) {
        const message = `You have ${own} uploads under way; at most ${limits.perUser} are allowed at once`;
        refuse('TOO_MANY_REQUESTS', message, { retryAfterSeconds });
      }
      if (inAll >= limits.inAll) {
        refuse('TOO_MANY_REQUESTS', 'Too many uploads are in progress; try again', { retryAfterSeconds });
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
