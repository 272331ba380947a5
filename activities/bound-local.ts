import { asyncLocalStorage } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { boundOfLocal } from '../src/platform/config/step-queues.ts';
import { counter } from '../src/platform/metrics/metrics.ts';
import { createSemaphore } from '../src/shared/concurrency.ts';
import type { Dependencies } from '../src/wiring/dependencies.ts';

/**
 * Limits steps that wait for the provider and also run as local activities, which occupy workflow task slots. A step
 * beyond the limit fails at once, and its workflow runs it on the provider's queue: a silent provider never occupies
 * all slots.
 */
export function boundLocal<Input, Output>(
  { metrics }: Pick<Dependencies, 'metrics'>,
  activity: string,
  run: (input: Input) => Promise<Output>,
): (input: Input) => Promise<Output> {
  const deferrals = counter(
    metrics,
    'amanah_activity_deferrals_total',
    'Steps moved to the provider queue because too many were waiting for the provider within workflow tasks.',
    ['activity'],
  );
  const places = createSemaphore(boundOfLocal, { mostWaiting: 0 });
  return async (input) => {
    if (!asyncLocalStorage.getStore()?.info.isLocal) return run(input);
    const leave = await places.enter().catch(() => {
      deferrals.inc({ activity });
      throw ApplicationFailure.retryable(`${boundOfLocal} of these steps are already running`, 'STEP_BUSY');
    });
    try {
      return await run(input);
    } finally {
      leave();
    }
  };
}
