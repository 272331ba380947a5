import { buildPlatformAdmin } from '../support/build.ts';
import { expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { buildPayer, pay, readPayout, transfersOf } from './build-payouts.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true, workerFailpoints: 'send-transfer.before=throw' });
}, 60_000);
afterAll(() => stack.stop());

describe('A step of sending that fails for ever', () => {
  it('never keeps an operator waiting for more than its time, and sends nothing after the payout was ended', async () => {
    const partner = await buildPayer(stack);
    const operator = await buildPlatformAdmin(stack);
    const { id } = await pay(partner);
    const settlement = { outcome: 'failed', note: 'ticket 4711', who: operator.id, force: true };
    const ended = await stack.deps.workflows.client.workflow
      .getHandle(`partner-payout/${id}`)
      .executeUpdate('settlePayout', { args: [settlement] });
    expect(ended).toBe('failed');
    expect((await readPayout(partner, id)).failure_code).toBe('SETTLED_BY_OPERATOR');
    expect(await transfersOf(stack, id)).toEqual([]);
    await expectChecksEmpty(stack);
  }, 90_000);
});
