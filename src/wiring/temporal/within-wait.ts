import { type Client, isGrpcServiceError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { budgets } from '../../shared/budgets.ts';
import { DomainError, type ErrorCode, errorStatuses } from '../../shared/errors.ts';

/** The time-out of signals and starts. */
export const callTimeoutMs = budgets.reach.temporalCall;

const retryAfterSeconds = 2;

/** Waits for an update or a result; null when the wait timed out. Throws the workflow's refusal. */
export async function withinWait<T>(client: Client, waitMs: number, call: () => Promise<T>): Promise<T | null> {
  const endsAt = performance.now() + waitMs;
  try {
    return await client.withDeadline(Date.now() + waitMs, call);
  } catch (error) {
    const refusal = error instanceof WorkflowUpdateFailedError ? refusalBehind(error.cause) : undefined;
    if (refusal !== undefined) throw refusal;
    // After any other error the workflow may still run, or may have completed without an answer: the caller looks for
    // the row.
    if (performance.now() >= endsAt - 50 || error instanceof WorkflowUpdateFailedError || mayHaveStarted(error))
      return null;
    throw error;
  }
}

/** Returns our own refusal behind a failed update, unwrapped. */
function refusalBehind(cause: unknown): DomainError | undefined {
  for (let failure = cause; Error.isError(failure); failure = failure.cause) {
    if (failure instanceof ApplicationFailure && failure.type && failure.type in errorStatuses) {
      const [details, told] = (failure.details ?? []) as [unknown?, { field: string | null; complaint: string }?];
      return new DomainError(failure.type as ErrorCode, told?.complaint ?? failure.message, {
        cause,
        ...(told?.field && { field: told.field }),
        details: details ?? undefined,
        ...(failure.type === 'SERVICE_UNAVAILABLE' && { retryAfterSeconds }),
      });
    }
  }
  return undefined;
}

function mayHaveStarted(error: unknown): boolean {
  if (isGrpcServiceError(error)) return true;
  return error instanceof Error && (error.name === 'WorkflowUpdateRPCTimeoutOrCancelledError' || isServiceError(error));
}

const isServiceError = (error: Error): boolean =>
  error.name === 'ServiceError' || error.name === 'WorkflowServiceError';
