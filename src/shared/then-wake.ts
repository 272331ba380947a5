import { isDomainError } from './errors.ts';

/**
 * Awaits the work and then wakes its waiters, also when the answer to the commit was lost and nobody knows whether it
 * was committed. A refusal has changed nothing and wakes nobody.
 */
export async function thenWake<T>(work: Promise<T>, wake: () => Promise<unknown>): Promise<T> {
  try {
    const done = await work;
    void wake();
    return done;
  } catch (error) {
    if (!isDomainError(error)) void wake();
    throw error;
  }
}
