import { isAway } from '../../src/shared/away.ts';

/** Retries a step, as Temporal does, while a dependency is unavailable: on a busy machine, a lock or connection. */
export async function asAStep<T>(take: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await take();
    } catch (error) {
      if (!isAway(error)) throw error;
    }
  }
}
