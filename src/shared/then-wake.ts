import { isDomainError } from './errors.ts';

/**
 * Awaits the work and then wakes its waiters, even if the commit's response was lost and the outcome is unknown; not
 * after a refusal, which changes nothing.
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
