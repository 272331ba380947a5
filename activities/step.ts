import { type EntityManager, NotFoundError } from '@mikro-orm/postgresql';
import { asyncLocalStorage, heartbeat } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { type TimeLimit, withinLimit } from '../src/platform/database/time-limit.ts';
import { isProviderUnknown, restAfter } from '../src/platform/gateway/gateway.ts';
import { type SweepFailure, sweptKinds } from '../src/platform/housekeeping/sweep-rows.ts';
import { measureSteps } from '../src/platform/metrics/measure.ts';
import { counter } from '../src/platform/metrics/metrics.ts';
import { budgets, providerTimeWithin } from '../src/shared/budgets.ts';
import { asRefusal, DomainError, errorCodeOf, isDomainError } from '../src/shared/errors.ts';
import type { Dependencies } from '../src/wiring/dependencies.ts';

/** A step that keeps failing logs its first failure and every tenth. */
const loggedEvery = 10;

/** Failures from this attempt on, and of the last attempt, count in the metric of steps that keep failing. */
const again = 5;

/**
 * Wraps a use case as an activity with its own fork of the EntityManager. Domain errors are not retried; all others
 * are. A missing row is NOT_FOUND, which fails the workflow: the database was restored to a time before the row. The
 * history gets our code and message, never a driver's message, which may quote values. An attempt that has timed out
 * writes nothing more, as Temporal may have started another.
 */
export function step<Input, Output>(
  deps: Dependencies,
  name: string,
  useCase: (em: EntityManager, input: Input) => Promise<Output>,
): (input: Input) => Promise<Output> {
  const seconds = measureSteps(deps.metrics);
  const failures = counter(
    deps.metrics,
    'amanah_activity_failed_again_total',
    'Failures of a step after its fourth: if the count keeps growing, the step never succeeds.',
    ['activity'],
  );
  // Initialized to 0: alarms fire on an increase, and a counter that first appears as 1 has not increased.
  failures.inc({ activity: name }, 0);
  return async (input) => {
    const started = performance.now();
    const measure = (outcome: 'done' | 'refused' | 'failed') =>
      seconds.observe({ activity: name, outcome }, (performance.now() - started) / 1000);
    try {
      const result = await withinLimit(limitOfAttempt(), () => useCase(deps.orm.em.fork(), input));
      measure('done');
      return result;
    } catch (thrown) {
      const error = thrown instanceof NotFoundError ? rowIsGone(thrown) : asRefusal(thrown);
      const info = asyncLocalStorage.getStore()?.info;
      const attempt = info?.attempt ?? 1;
      const most = info?.retryPolicy?.maximumAttempts || Number.POSITIVE_INFINITY;
      // A local activity with one attempt is retried on its task queue, which logs its own failures.
      const isTakenOver = info?.isLocal === true && most === 1;
      const isLast = !isTakenOver && attempt >= most;
      if (!isDomainError(error) && (isLast || attempt >= again)) failures.inc({ activity: name });
      measure(isDomainError(error) ? 'refused' : 'failed');
      if (isDomainError(error)) throw asFailure(error);
      const { restMs } = isProviderUnknown(error) ? restAfter(error) : {};
      // Rate limiting by the provider is not a failure of the step.
      if (restMs === undefined && !isTakenOver && (isLast || attempt === 1 || attempt % loggedEvery === 0)) {
        const workflow_id = info?.workflowExecution?.workflowId;
        const text = isLast ? 'an activity failed and will not be retried' : 'an activity failed and will be retried';
        deps.log.warn({ err: error, activity: name, workflow_id, attempt }, text);
      }
      if (isProviderUnknown(error)) {
        throw ApplicationFailure.create({
          message: 'the outcome at the provider is unknown',
          type: 'PROVIDER_UNKNOWN',
          nonRetryable: false,
          // Rate limited: retry only after the provider's delay, which workflows read from the details.
          ...(restMs !== undefined && { nextRetryDelay: restMs, details: [restMs] }),
        });
      }
      throw ApplicationFailure.retryable(`${name} failed: ${errorCodeOf(error) ?? 'unexpected error'}`, 'STEP_FAILED');
    }
  };
}

const rowIsGone = (cause: NotFoundError): DomainError =>
  new DomainError('NOT_FOUND', 'The row of this step was not found', { cause });

/** Encodes a domain error for a workflow; `refusalBehind` in `temporal/` decodes it. */
const asFailure = ({ code, message, field, complaint, details = null }: DomainError): ApplicationFailure =>
  ApplicationFailure.nonRetryable(message, code, details, { field: field ?? null, complaint });

/** Temporal's time-out starts when it dispatches the attempt, slightly before the attempt begins here. */
const headStartMs = 250;

function limitOfAttempt(): TimeLimit {
  const startToCloseMs = asyncLocalStorage.getStore()?.info.startToCloseTimeoutMs ?? budgets.steps.first;
  const now = performance.now();
  return { endsAt: now + startToCloseMs - headStartMs, askUntil: now + providerTimeWithin(startToCloseMs) };
}

/** Logs and counts a row whose workflow a sweep could not wake; a later sweep retries it. */
export function reportSweepFailure({ log, metrics }: Dependencies): SweepFailure {
  const failures = counter(metrics, 'amanah_sweep_failures_total', 'Rows that a sweep could not wake, by kind.', [
    'kind',
  ]);
  // As above: initialized to 0.
  for (const kind of sweptKinds) failures.inc({ kind }, 0);
  return (kind, id, error) => {
    failures.inc({ kind });
    log.warn({ err: error, kind, id }, 'could not wake a workflow; a later sweep retries its row');
  };
}

/** Heartbeats while the step waits for a lock or a long statement. */
export async function beating<T>(work: Promise<T>): Promise<T> {
  const beats = setInterval(() => heartbeat(), budgets.heartbeat.every);
  try {
    return await work;
  } finally {
    clearInterval(beats);
  }
}

/** Turns the refusal SERVICE_UNAVAILABLE ("try again later") into an error, so that Temporal retries the step. */
export async function repeating<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (isDomainError(error) && error.code === 'SERVICE_UNAVAILABLE') {
      throw Object.assign(new Error(error.message, { cause: error }), { code: 'TRY_AGAIN' });
    }
    throw error;
  }
}
