import { expectChecksEmpty } from '../../support/stack.ts';
import { startTimeSkippingStack } from '../../support/time-skipping.ts';

it('The clearing workflow compares both balances ten minutes after it read them', async () => {
  await using stack = await startTimeSkippingStack();
  const { taskQueue } = stack.deps.workflows;
  const began = await stack.time.currentTimeMs();
  const verdict = await stack.time.client.workflow.execute('compareClearing', {
    workflowId: `${taskQueue}/clearing-comparison`,
    taskQueue,
  });
  expect(verdict).toMatchObject({ agreed: true, difference: '0.0000' });
  expect((await stack.time.currentTimeMs()) - began).toBeGreaterThanOrEqual(600_000);
  const rows = await stack.em().execute<object[]>('select * from clearing_comparisons');
  expect(rows).toMatchObject([{ agreed: true, agreed_day: null, provider_change: null }]);
  await expectChecksEmpty(stack);
}, 120_000);
