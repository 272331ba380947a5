import { type BuiltUser, balanceOf, buildIndividual } from '../../support/build.ts';
import { type BuiltTarget, buildGoal } from '../../support/build-targets.ts';
import { itInFull } from '../../support/full.ts';
import { type ProcessStack, startProcessStack } from '../../support/processes.ts';
import { eventually, expectChecksEmpty } from '../../support/stack.ts';

let stack: ProcessStack;
let saver: BuiltUser;
let goal: BuiltTarget;
beforeAll(async () => {
  stack = await startProcessStack();
}, 90_000);
afterAll(() => stack.stop());
beforeEach(async () => {
  saver = await buildIndividual(stack, { balance: '1000' });
  goal = await buildGoal(stack, saver);
  const saved = await stack.post(
    '/v1/payments/balance',
    {
      reference_type: 'saving_goal_contribution',
      reference_id: goal.id,
      source_account_id: saver.accountId,
      amount: 400,
    },
    { token: saver.token },
  );
  expect(saved.status).toBe(201);
});

const release = () =>
  stack.post(`/v1/saving-goals/${goal.id}/release`, { account_id: saver.accountId }, { token: saver.token });
const closedAt = async () =>
  (await stack.get(`/v1/saving-goals/${goal.id}`, { token: saver.token })).body.data.closed_at;
const held = () => Promise.all([saver.accountId, goal.accountId].map((account) => balanceOf(stack, account)));
const journals = async () => {
  const [{ count }] = await stack
    .em()
    .execute<[{ count: string }]>("select count(*) from journals where business_key like 'saving-goal/' || ? || '/%'", [
      goal.id,
    ]);
  return Number(count);
};

describe('A goal released while a process is killed', () => {
  it('A release killed before its commit has no effect, and the next request releases the goal', async () => {
    stack.arm('release-saving-goal.posted=kill');
    await expect(release()).rejects.toThrow();
    await stack.api.exited;
    expect(await held()).toEqual(['600.0000', '400.0000']);
    await stack.restart();
    expect([await closedAt(), await journals()]).toEqual([null, 0]);
    expect((await release()).status).toBe(200);
    expect([await held(), await journals()]).toEqual([['1000.0000', '0.0000'], 1]);
    await expectChecksEmpty(stack);
  }, 90_000);

  it('A release killed after its commit is complete, and the next request returns 400', async () => {
    stack.arm('release-saving-goal.after=kill');
    await expect(release()).rejects.toThrow();
    await stack.api.exited;
    expect(await held()).toEqual(['1000.0000', '0.0000']);
    await stack.restart();
    const again = await release();
    expect([again.status, String(again.body.message)]).toEqual([400, expect.stringContaining('closed')]);
    expect(await closedAt()).not.toBeNull();
    expect([await held(), await journals()]).toEqual([['1000.0000', '0.0000'], 1]);
    await expectChecksEmpty(stack);
  }, 90_000);

  itInFull(
    'A payment after a release is credited once to the account that got the savings, despite a kill',
    async () => {
      const { body } = await stack.post(
        '/v1/payments/gateway',
        { reference_type: 'saving_goal_contribution', reference_id: goal.id, payment_id: 1, amount: 20_000 },
        { token: saver.token },
      );
      expect((await release()).status).toBe(200);
      stack.arm('settle-payment.after=kill');
      await stack.sandbox.post('/sandbox/pay', { payment_code: body.data.payment_code });
      await stack.worker.exited;
      await stack.restart();
      await eventually(
        () => held(),
        ([kept]) => kept === '21000.0000',
        60_000,
      );
      await eventually(
        async () =>
          (await stack.get(`/v1/payments/orders/${body.data.payment_order_id}`, { token: saver.token })).body.data,
        ({ status }) => status === 'PAID',
        60_000,
      );
      expect([await held(), await journals()]).toEqual([['21000.0000', '0.0000'], 2]);
      await expectChecksEmpty(stack);
    },
    120_000,
  );
});
