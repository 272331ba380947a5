import { isAway } from '../../src/shared/away.ts';

/** Takes a step again, as Temporal does, while what it depends on is away: on a busy machine, a lock or a connection. */
export async function asAStep<T>(take: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await take();
    } catch (error) {
      if (!isAway(error)) throw error;
    }
  }
}
