import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';

/** Unwraps an activity's refusal in an update, so that the caller reads the reason and not its wrapper. */
export async function withRefusals<T>(step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (error) {
    if (error instanceof ActivityFailure && error.cause instanceof ApplicationFailure) throw error.cause;
    throw error;
  }
}

/** Whether an opening was not made because its request had become too old; otherwise it was refused. */
export function hasLapsed(error: unknown): boolean {
  // A local activity's failure arrives as it is, any other's wrapped in an `ActivityFailure`.
  const failure = error instanceof ActivityFailure ? error.cause : error;
  return failure instanceof ApplicationFailure && failure.type === 'SERVICE_UNAVAILABLE';
}
