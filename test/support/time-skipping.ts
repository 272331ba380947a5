import { TestWorkflowEnvironment } from '@temporalio/testing';
import { testRun } from './run.ts';
import { type Stack, type StackOptions, startStack } from './stack.ts';

export interface TimeSkippingStack extends Stack {
  /** The environment: its client's `result()` lets the server skip time until the workflow ends; `sleep()` skips so far. */
  time: TestWorkflowEnvironment;
}

/**
 * A stack whose Temporal skips time: one environment per test file, as its clock is shared. Only the workflow's clock
 * moves; PostgreSQL, the sandbox and tokens stay in the present.
 */
export async function startTimeSkippingStack(options: StackOptions = {}): Promise<TimeSkippingStack> {
  const { timeSkipping } = testRun();
  if (!('path' in timeSkipping)) throw new Error(`there is no time-skipping server: ${timeSkipping.missing}`);
  const time = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path: timeSkipping.path } },
  });
  try {
    const stack = await startStack({
      worker: true,
      sandbox: true,
      ...options,
      env: { ...options.env, TEMPORAL_ADDRESS: time.address },
    });
    const stop = async () => {
      await stack.stop();
      await time.teardown();
    };
    return { ...stack, time, stop, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await time.teardown();
    throw error;
  }
}
