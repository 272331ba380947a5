import { approve, buildOperators, propose } from '../../support/decide.ts';
import { type ProcessStack, startProcessStack } from '../../support/processes.ts';
import { eventually, expectChecksEmpty } from '../../support/stack.ts';
import { buildPayer, pay, readPayout, transfersOf } from './build-payouts.ts';

let stack: ProcessStack;
beforeAll(async () => {
  stack = await startProcessStack();
  stack.arm('send-transfer.before=throw');
}, 90_000);
afterAll(() => stack.stop());

describe('A send activity that always fails', () => {
  it('Two people can settle a payout whose send activity always fails, and nothing is sent', async () => {
    const partner = await buildPayer(stack);
    const { id } = await pay(partner);
    const operators = await buildOperators(stack);
    const proposed = await propose(stack, operators, { kind: 'settle_payout', payout_id: id, outcome: 'failed' });
    const { id: decisionId } = proposed.body.data;
    const { status, body } = await eventually(
      async () => {
        const answer = await approve(stack, operators, decisionId);
        return answer.status === 503 ? answer : stack.get(`/v1/decisions/${decisionId}`, operators.approver);
      },
      (answer) => answer.status !== 503,
      60_000,
    );
    expect({ status, body }).toMatchObject({ status: 200, body: { data: { status: 'carried_out' } } });
    expect((await readPayout(partner, id)).failure_code).toBe('SETTLED_BY_OPERATOR');
    expect(await transfersOf(stack, id)).toEqual([]);
    await expectChecksEmpty(stack);
  }, 90_000);
});
