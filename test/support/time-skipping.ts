import { TestWorkflowEnvironment } from '@temporalio/testing';
import { testRun } from './run.ts';
import { type Stack, type StackOptions, startStack } from './stack.ts';
import { installQuietRuntime } from './worker-here.ts';

export interface TimeSkippingStack extends Stack {
  /**
   * The environment: its client's `result()` lets the server skip time until the workflow completes; `sleep()` skips
   * the given time.
   */
  time: TestWorkflowEnvironment;
}

/** The SDK gives a server five seconds to start, which may be too few on a busy machine. */
const startAttempts = 12;

async function startServer(path: string): Promise<TestWorkflowEnvironment> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await TestWorkflowEnvironment.createTimeSkipping({
        server: { executable: { type: 'existing-path', path } },
      });
    } catch (error) {
      if (attempt >= startAttempts || !/did not start within/.test(String(error))) throw error;
    }
  }
}

/**
 * Starts a stack whose Temporal skips time, one per test file, because its clock is shared. Only the workflow's clock
 * moves: PostgreSQL, the sandbox and tokens keep the real time, and activities trust the workflow that rows are due.
 */
export async function startTimeSkippingStack(options: StackOptions = {}): Promise<TimeSkippingStack> {
  const { timeSkipping } = testRun();
  if (!('path' in timeSkipping)) throw new Error(`there is no time-skipping server: ${timeSkipping.missing}`);
  installQuietRuntime();
  const time = await startServer(timeSkipping.path);
  try {
    const stack = await startStack({
      own: true,
      worker: true,
      sandbox: true,
      ...options,
      env: { TEMPORAL_SKIPS_TIME: 'true', ...options.env, TEMPORAL_ADDRESS: time.address },
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
