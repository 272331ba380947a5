import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { buildPayer, magicAccount, pay } from '../money-out/payouts/build-payouts.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

/** The summaries that a history attaches to its activities and timers. */
async function summariesOf(id: string): Promise<string[]> {
  const { events } = await stack.deps.workflows.client.workflow.getHandle(id).fetchHistory();
  return (events ?? []).flatMap(({ userMetadata }) => {
    const summary: Payload | null | undefined = userMetadata?.summary;
    return summary ? [defaultPayloadConverter.fromPayload<string>(summary)] : [];
  });
}

describe('The history of a workflow', () => {
  it('A payout workflow’s history has summaries of its activities and timers', async () => {
    const partner = await buildPayer(stack);
    const { id } = await pay(partner, { bank_account_number: magicAccount('131313') });
    const summaries = await eventually(
      () => summariesOf(`partner-payout/${id}`),
      (found) => found.some((summary) => summary.startsWith('Asks')),
    );
    expect(summaries).toEqual(
      expect.arrayContaining([
        'Request the transfer once under its key, and post the result',
        expect.stringMatching(/^Asks the provider about the transfer at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(UTC\+7\)$/),
      ]),
    );
  });
});
