import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';

/** Lets an activity's refusal through an update as itself, so that the caller reads the reason and not its wrapping. */
export async function withRefusals<T>(step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (error) {
    if (error instanceof ActivityFailure && error.cause instanceof ApplicationFailure) throw error.cause;
    throw error;
  }
}

/** Whether an opening was not done because its request had become too old; otherwise it was refused. */
export function hasLapsed(error: unknown): boolean {
  // A local activity fails with its own failure, any other with one that wraps it.
  const failure = error instanceof ActivityFailure ? error.cause : error;
  return failure instanceof ApplicationFailure && failure.type === 'SERVICE_UNAVAILABLE';
}
