import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';

/** Unwraps an activity's refusal in an update, so that the caller reads the reason and not its wrapper. */
export async function withRefusals<T>(step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (error) {
    const failure = failureBehind(error);
    throw failure instanceof ApplicationFailure ? failure : error;
  }
}

/** The failure behind that of a step: a local activity's arrives as it is, any other's wrapped in an `ActivityFailure`. */
export const failureBehind = (error: unknown): unknown => (error instanceof ActivityFailure ? error.cause : error);

/** Whether an opening was not made because its request had become too old; otherwise it was refused. */
export function hasLapsed(error: unknown): boolean {
  const failure = failureBehind(error);
  return failure instanceof ApplicationFailure && failure.type === 'SERVICE_UNAVAILABLE';
}
