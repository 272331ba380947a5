import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { repeating, step } from '../../activities/step.ts';
import { ProviderUnknown } from '../../src/platform/gateway/gateway.ts';
import type { Logger } from '../../src/platform/process/log.ts';
import { refuse } from '../../src/shared/errors.ts';
import { type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.stop());

interface Line {
  attempt: number;
  activity: string;
  workflow_id: string;
  text: string;
}
/** The log lines of this many attempts of an activity. */
async function logOf(work: () => Promise<never>, attempts: number, maximumAttempts = 0): Promise<Line[]> {
  const lines: Line[] = [];
  const warn = (facts: Omit<Line, 'text'>, text: string) => void lines.push({ ...facts, text });
  const tried = step({ ...stack.deps, log: { ...stack.deps.log, warn } as unknown as Logger }, 'tryIt', work);
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const environment = new MockActivityEnvironment(
      { attempt, retryPolicy: { maximumAttempts }, startToCloseTimeoutMs: 60_000 },
      { logger: new DefaultLogger('ERROR') },
    );
    await expect(environment.run(tried, undefined)).rejects.toThrow();
  }
  return lines;
}
const fail = () => Promise.reject(new Error('the database is down'));

describe('Activities that keep failing', () => {
  it('A failing activity is logged on its first attempt and then on every tenth, with its workflow id', async () => {
    const lines = await logOf(fail, 25);
    expect(lines.map(({ attempt }) => attempt)).toEqual([1, 10, 20]);
    expect(lines[0]).toMatchObject({
      activity: 'tryIt',
      workflow_id: 'test',
      text: 'an activity failed and will be retried',
    });
  });

  it('A failing activity is logged if the provider is silent, but not if its call was rate-limited', async () => {
    const silent = () => Promise.reject(new ProviderUnknown('no answer'));
    expect((await logOf(silent, 12)).map(({ attempt }) => attempt)).toEqual([1, 10]);
    const limited = () => Promise.reject(new ProviderUnknown('limited', { restMs: 1_000 }));
    expect(await logOf(limited, 12)).toEqual([]);
  });

  it('A failing activity with limited attempts is logged on its last attempt', async () => {
    const lines = await logOf(fail, 3, 3);
    expect(lines.map(({ attempt, text }) => [attempt, text])).toEqual([
      [1, 'an activity failed and will be retried'],
      [3, 'an activity failed and will not be retried'],
    ]);
  });

  it('An activity that refuses is not logged: a refusal is a result', async () => {
    expect(await logOf(async () => refuse('REQUEST_INVALID', 'not so'), 12)).toEqual([]);
  });
});

describe('Background activities', () => {
  const outcomeOf = (code: 'SERVICE_UNAVAILABLE' | 'INSUFFICIENT_BALANCE', work = repeating) =>
    new MockActivityEnvironment({ startToCloseTimeoutMs: 60_000 }, { logger: new DefaultLogger('ERROR') })
      .run(
        step({ ...stack.deps, log: { ...stack.deps.log, warn: () => undefined } as unknown as Logger }, 'tryIt', () =>
          work((async () => refuse(code, 'not now'))()),
        ),
        undefined,
      )
      .catch((error: unknown) => error);

  it('A background activity is retried after SERVICE_UNAVAILABLE, which is final for any other activity', async () => {
    expect(await outcomeOf('SERVICE_UNAVAILABLE')).toMatchObject({
      nonRetryable: false,
      message: 'tryIt failed: TRY_AGAIN',
    });
    expect(await outcomeOf('SERVICE_UNAVAILABLE', (answer) => answer)).toMatchObject({ nonRetryable: true });
  });

  it('A background activity is not retried after any other refusal', async () => {
    expect(await outcomeOf('INSUFFICIENT_BALANCE')).toMatchObject({ nonRetryable: true, type: 'INSUFFICIENT_BALANCE' });
  });
});
