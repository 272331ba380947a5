import { casesOf } from '../../support/full.ts';
import { loseWorkflow } from '../../support/lose-workflow.ts';
import { recountTallies } from '../../support/recount-tallies.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { withoutTriggers } from '../../support/without-triggers.ts';
import {
  buildPayer,
  magicAccount,
  pay,
  payoutWhen,
  readBalance,
  readPayout,
  settleAtProvider,
  transfersOf,
} from './build-payouts.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

it('A payout whose workflow is lost succeeds when the provider’s callback arrives', async () => {
  const partner = await buildPayer(stack);
  const { id } = await pay(partner, { bank_account_number: magicAccount('131313') });
  await eventually(
    () => stack.em().execute<{ word: string }[]>('select last_word as word from payouts where id = ?', [id]),
    ([row]) => row?.word === 'accepted',
  );
  await loseWorkflow(stack.deps.workflows.client, `partner-payout/${id}`);
  // A payout this old is queried once an hour.
  await withoutTriggers(stack, "update payouts set created_at = now() - interval '12 hours' where id = ?", [id]);
  await recountTallies(stack);
  await settleAtProvider(stack, id, 'SUCCEEDED');
  await payoutWhen(partner, id, 'succeeded');
}, 60_000);

describe('A payout whose workflow is reset to its first task', () => {
  it.each(casesOf(['111111', '900003', '131313', '900004']))(
    'Resetting the workflow of a payout to %s sends nothing again and keeps the outcome',
    async (digits) => {
      const partner = await buildPayer(stack);
      const { id } = await pay(partner, { bank_account_number: magicAccount(digits) });
      const { client } = stack.deps.workflows;
      const { runId } = await client.workflow.getHandle(`partner-payout/${id}`).describe();
      const handle = client.workflow.getHandle(`partner-payout/${id}`, runId);
      // Waits until it is final, or pending with this status at the provider.
      const lastWord = digits === '131313' ? 'accepted' : 'not known';
      const [settled] = await eventually(
        () =>
          stack
            .em()
            .execute<{ status: string; last_word: string }[]>('select status, last_word from payouts where id = ?', [
              id,
            ]),
        ([row]) => row?.status !== 'pending' || row.last_word === lastWord,
      );
      const before = { balance: await readBalance(partner), transfers: (await transfersOf(stack, id)).length };
      const history = await handle.fetchHistory();
      const first = history.events?.find(({ workflowTaskCompletedEventAttributes: done }) => done);
      const again = await client.workflowService.resetWorkflowExecution({
        namespace: 'default',
        workflowExecution: { workflowId: handle.workflowId, runId },
        reason: 'a test',
        requestId: crypto.randomUUID(),
        workflowTaskFinishEventId: first?.eventId ?? null,
      });
      // The new run has replayed completely once it completes or waits for its next query.
      await eventually(
        async () => (await client.workflow.getHandle(handle.workflowId, again.runId).fetchHistory()).events ?? [],
        (events) =>
          events.some((event) => event.timerStartedEventAttributes ?? event.workflowExecutionCompletedEventAttributes),
      );
      expect(await transfersOf(stack, id)).toHaveLength(before.transfers);
      expect(await readPayout(partner, id)).toMatchObject({ status: settled?.status });
      expect(await readBalance(partner)).toEqual(before.balance);
    },
    60_000,
  );
});
