import { buildSuperAdmin } from '../../support/build.ts';
import {
  approve,
  buildOperators,
  type Operators,
  plantDecision,
  propose,
  secureSession,
} from '../../support/decide.ts';
import { itInFull } from '../../support/full.ts';
import { type ProcessStack, startProcessStack } from '../../support/processes.ts';
import { expectChecksEmpty } from '../../support/stack.ts';
import { withoutTriggers } from '../../support/without-triggers.ts';
import { buildPayer, pay, payoutWhen, transfersOf } from '../payouts/build-payouts.ts';
import { buildWaitingDisbursement, withdrawalWhen } from '../withdrawals/build-withdrawals.ts';

let stack: ProcessStack;
let operators: Operators;
/** The token of a platform user who may approve. */
let approver: string;
beforeAll(async () => {
  stack = await startProcessStack();
  operators = await buildOperators(stack);
  approver = await secureSession(stack, (await buildSuperAdmin(stack)).id);
}, 120_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack?.stop());
afterEach(async () => {
  stack.arm('');
  await stack.restart();
});

const succeeding = (payout_id: string) => ({ kind: 'settle_payout', payout_id, outcome: 'succeeded' });
const neverSent = 'outcome: the transfer was never requested, so it cannot have succeeded';
const expectRefused = async (payoutId: string) => {
  const { status, body } = await propose(stack, operators, succeeding(payoutId));
  expect([status, body.message]).toEqual([400, neverSent]);
};

describe('Decisions before any request to the provider', () => {
  it('Operators cannot settle a payout as succeeded before it is requested from the provider', async () => {
    const partner = await buildPayer(stack);
    stack.arm('send-transfer.before=hold');
    const { id } = await pay(partner);
    await expectRefused(id);
    stack.arm('');
    await stack.restart();
    await payoutWhen(partner, id, 'succeeded');
    expect(await transfersOf(stack, id)).toHaveLength(1);
  }, 180_000);

  itInFull(
    'A decision that a payout succeeded is refused at its approval if no transfer was requested',
    async () => {
      const partner = await buildPayer(stack);
      stack.arm('send-transfer.before=hold');
      const { id } = await pay(partner);
      const decisionId = await plantDecision(stack, operators, { ...succeeding(id), approved: false });
      const { status, body } = await approve(stack, operators, decisionId);
      const reason = neverSent.slice('outcome: '.length);
      expect([status, body.data]).toMatchObject([200, { status: 'refused', reason }]);
      stack.arm('');
      await stack.restart();
      await payoutWhen(partner, id, 'succeeded');
    },
    180_000,
  );

  itInFull(
    'Operators cannot settle a disbursement as succeeded right after its rejection',
    async () => {
      const { owner, id, decisionId } = await buildWaitingDisbursement(stack);
      await stack.kill('worker');
      const rejected = await stack.post(`/v1/decisions/${decisionId}/reject`, undefined, { token: approver });
      expect(rejected.body.data).toMatchObject({ status: 'rejected' });
      await expectRefused(id);
      await stack.restart();
      expect(await withdrawalWhen(stack, owner, id, 'failed')).toMatchObject({ failure_code: 'DECISION_REJECTED' });
    },
    180_000,
  );

  itInFull(
    'Operators cannot settle a disbursement as succeeded right after its decision lapses',
    async () => {
      const { owner, id, decisionId } = await buildWaitingDisbursement(stack);
      await stack.kill('worker');
      await withoutTriggers(stack, "update decisions set created_at = created_at - interval '8 days' where id = ?", [
        decisionId,
      ]);
      const late = await stack.post(`/v1/decisions/${decisionId}/approve`, undefined, { token: approver });
      expect(late.body.data).toMatchObject({ status: 'lapsed' });
      await expectRefused(id);
      await stack.restart();
      expect(await withdrawalWhen(stack, owner, id, 'failed')).toMatchObject({ failure_code: 'DECISION_LAPSED' });
    },
    180_000,
  );
});

it('The database rejects the success of a payout that was never requested', async () => {
  const partner = await buildPayer(stack);
  stack.arm('send-transfer.before=hold');
  const { id } = await pay(partner);
  await plantDecision(stack, operators, succeeding(id));
  await expect(
    stack.em().execute("update payouts set status = 'succeeded', finalized_at = now() where id = ?", [id]),
  ).rejects.toThrow('nor a decision proves this status of the payout');
  stack.arm('');
  await stack.restart();
  await payoutWhen(partner, id, 'succeeded');
}, 180_000);
