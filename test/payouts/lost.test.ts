import { recountTallies } from '../support/recount-tallies.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { withoutTriggers } from '../support/without-triggers.ts';
import { buildPayer, magicAccount, pay, payoutWhen, settleAtProvider } from './build-payouts.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ sandbox: true, worker: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

it('A callback that restarts a lost payout is checked at once, however old the payout is', async () => {
  const partner = await buildPayer(stack);
  const { id } = await pay(partner, { bank_account_number: magicAccount('131313') });
  await eventually(
    () => stack.em().execute<{ word: string }[]>('select last_word as word from payouts where id = ?', [id]),
    ([row]) => row?.word === 'accepted',
  );
  await stack.deps.workflows.client.workflow.getHandle(`partner-payout/${id}`).terminate('lost');
  // Of this age it is asked about once an hour.
  await withoutTriggers(stack, "update payouts set created_at = now() - interval '12 hours' where id = ?", [id]);
  await recountTallies(stack);
  await settleAtProvider(stack, id, 'SUCCEEDED');
  await payoutWhen(partner, id, 'succeeded');
}, 60_000);
