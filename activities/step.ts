import type { EntityManager } from '@mikro-orm/postgresql';
import { asyncLocalStorage } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Dependencies } from '../src/dependencies.ts';
import { isProviderUnknown, restAfter } from '../src/gateway/gateway.ts';
import { measureSteps } from '../src/measure.ts';
import { errorCodeOf, isDomainError } from '../src/shared/errors.ts';

/**
 * Wraps a deed as an activity: a fork of its own, refusals not retried, everything else retried. What reaches a
 * history is a code and a sentence of ours, never a driver's message, which may quote values (design law 7).
 */
export function step<Input, Output>(
  deps: Dependencies,
  name: string,
  deed: (em: EntityManager, input: Input) => Promise<Output>,
): (input: Input) => Promise<Output> {
  const seconds = measureSteps(deps.metrics);
  return async (input) => {
    const started = performance.now();
    const measure = (outcome: 'done' | 'refused' | 'failed') =>
      seconds.observe({ activity: name, outcome }, (performance.now() - started) / 1000);
    try {
      const result = await deed(deps.orm.em.fork(), input);
      measure('done');
      return result;
    } catch (error) {
      measure(isDomainError(error) ? 'refused' : 'failed');
      if (isDomainError(error)) throw ApplicationFailure.nonRetryable(error.message, error.code, error.details ?? null);
      if (isProviderUnknown(error)) {
        const { restMs } = restAfter(error);
        throw ApplicationFailure.create({
          message: 'the outcome at the provider is unknown',
          type: 'PROVIDER_UNKNOWN',
          nonRetryable: false,
          // Its calls are limited: asked again when it said, not before.
          ...(restMs !== undefined && { nextRetryDelay: restMs }),
        });
      }
      const workflow_id = asyncLocalStorage.getStore()?.info.workflowExecution?.workflowId;
      deps.log.warn({ err: error, activity: name, workflow_id }, 'an activity failed and will be retried');
      throw ApplicationFailure.retryable(`${name} failed: ${errorCodeOf(error) ?? 'unexpected error'}`, 'STEP_FAILED');
    }
  };
}
