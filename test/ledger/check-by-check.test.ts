import { WorkflowFailedError } from '@temporalio/client';
import { newId } from '../../src/shared/ids.ts';
import { pauseSchedules } from '../support/pause-schedules.ts';
import { isFullRun } from '../support/run.ts';
import { type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  // Its own stack, because it adds checks that other tests would see fail.
  stack = await startStack({ own: true, worker: true });
  await pauseSchedules(stack, ['ledger-checks']);
}, 60_000);
afterAll(() => stack.stop());

function check(): Promise<string[]> {
  const { client, taskQueue } = stack.deps.workflows;
  return client.workflow.execute<() => Promise<string[]>>('runLedgerChecks', { taskQueue, workflowId: newId() });
}

describe('The checks of the books', () => {
  it('A run of the checks returns the names of those with violations', async () => {
    if (isFullRun()) expect(await check()).toEqual([]);
    await stack.owner().execute('create view check_by_hand as select 1 as wrong');
    await stack.owner().execute('grant select on check_by_hand to amanah_app');
    expect(await check()).toEqual(['check_by_hand']);
  }, 120_000);

  it('A run of the checks reads all even if one fails, and then fails with its name', async () => {
    // Sorts first, and the application may not read it.
    await stack.owner().execute('create view check_and_fail as select 1 as wrong');
    const failure = await check().catch((error: unknown) => error);
    if (!(failure instanceof WorkflowFailedError)) throw failure;
    expect(failure.cause).toMatchObject({
      message: 'could not be read: check_and_fail',
      type: 'CHECKS_UNREAD',
      details: [['check_by_hand']],
    });
  }, 120_000);
});
