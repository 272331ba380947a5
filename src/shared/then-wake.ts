import { isDomainError } from './errors.ts';

/**
 * Awaits the work and then wakes who waits for it: also when nobody can tell whether it was committed, because the answer to
 * the commit was lost. A refusal has changed nothing, and wakes nobody.
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
