import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { boundLocal } from '../../activities/bound-local.ts';
import { boundOfLocal } from '../../src/platform/config/step-queues.ts';
import { createMetrics } from '../../src/platform/metrics/metrics.ts';

/** A provider that answers only when the test lets it. */
const answer = Promise.withResolvers<string>();
let asked = 0;
const quiet = { logger: new DefaultLogger('ERROR') };
const metrics = createMetrics({ defaults: false });
const ask = boundLocal({ metrics }, 'ask', (_: object) => {
  asked += 1;
  return answer.promise;
});
const run = (isLocal: boolean) => new MockActivityEnvironment({ isLocal }, quiet).run(ask, {});

describe('Activities that wait for the provider within workflow tasks', () => {
  it('The number of concurrent local activities is limited; regular activities are not', async () => {
    const within = Array.from({ length: boundOfLocal }, () => run(true));
    await expect(run(true)).rejects.toMatchObject({ type: 'STEP_BUSY', nonRetryable: false });
    expect(await metrics.registry.metrics()).toContain('amanah_activity_deferrals_total{activity="ask"} 1');
    const beside = run(false);
    expect(asked).toBe(boundOfLocal + 1);
    answer.resolve('made');
    expect(new Set(await Promise.all([...within, beside]))).toEqual(new Set(['made']));
    expect(await run(true)).toBe('made');
  });

  it('A local activity that fails releases its slot', async () => {
    const fail = boundLocal({ metrics }, 'fail', (_: object) => Promise.reject(new Error('no answer')));
    for (let time = 0; time <= boundOfLocal; time += 1) {
      await expect(new MockActivityEnvironment({ isLocal: true }, quiet).run(fail, {})).rejects.toThrow('no answer');
    }
  });
});
