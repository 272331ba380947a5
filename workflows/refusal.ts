import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';

/** Unwraps an activity's refusal in an update, so that the caller gets the reason and not its wrapper. */
export async function withRefusals<T>(step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (error) {
    const failure = failureBehind(error);
    throw failure instanceof ApplicationFailure ? failure : error;
  }
}

/**
 * The failure behind a step's failure: a local activity throws it as it is, any other wraps it in an `ActivityFailure`.
 */
export const failureBehind = (error: unknown): unknown => (error instanceof ActivityFailure ? error.cause : error);

/** Whether an opening failed because its request was too old; otherwise it was refused. */
export function hasLapsed(error: unknown): boolean {
  const failure = failureBehind(error);
  return failure instanceof ApplicationFailure && failure.type === 'SERVICE_UNAVAILABLE';
}
