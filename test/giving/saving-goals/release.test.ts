import { asAClient } from '../../support/as-a-client.ts';
import { type BuiltUser, balanceOf, buildIndividual, buildOrganizationAdmin, fund } from '../../support/build.ts';
import { type BuiltTarget, buildGoal } from '../../support/build-targets.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let saver: BuiltUser;
let goal: BuiltTarget;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  saver = await buildIndividual(stack, { balance: '1000' });
  goal = await buildGoal(stack, saver);
});

const release = (account_id: string, { token } = saver, id = goal.id) =>
  stack.post(`/v1/saving-goals/${id}/release`, { account_id }, { token });
const fromBalance = (amount: number) =>
  stack.post(
    '/v1/payments/balance',
    { reference_type: 'saving_goal_contribution', reference_id: goal.id, source_account_id: saver.accountId, amount },
    { token: saver.token },
  );
const byGateway = () =>
  stack.post(
    '/v1/payments/gateway',
    { reference_type: 'saving_goal_contribution', reference_id: goal.id, payment_id: 1, amount: 20_000 },
    { token: saver.token },
  );
const moves = () =>
  stack
    .em()
    .execute<object[]>(
      "select amount::text, user_id, destination_account_id, type from transactions where reference_id = ? and purpose = 'internal_withdrawal' order by created_at",
      [goal.id],
    );

const crowd = isFullRun() ? 50 : 15;

describe('Releasing a saving goal', () => {
  it('Releasing a goal moves the savings to an account of the owner and closes the goal', async () => {
    expect((await fromBalance(400)).status).toBe(201);
    const { status, body } = await release(saver.accountId);
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        message: expect.any(String),
        data: { id: goal.id, status: 'active', current_amount: '0.0000', closed_at: expect.any(String) },
      },
    });
    expect(await balanceOf(stack, saver.accountId)).toBe('1000.0000');
    expect(await moves()).toEqual([
      { amount: '400.0000', user_id: saver.id, destination_account_id: saver.accountId, type: 'price' },
    ]);
    for (const refused of [await fromBalance(10), await byGateway()]) {
      expect(refused.status).toBe(400);
      expect(String(refused.body.message)).toContain('closed');
    }
    const { token } = saver;
    expect((await stack.patch(`/v1/saving-goals/${goal.id}`, { name: 'Umrah' }, { token })).status).toBe(400);
  });

  it(`Of ${crowd} concurrent releases of a goal one succeeds, and the money moves once`, async () => {
    await fromBalance(400);
    const answers = await Promise.all(Array.from({ length: crowd }, () => asAClient(() => release(saver.accountId))));
    const counts = Map.groupBy(answers, ({ status }) => status);
    expect([counts.get(200)?.length, counts.get(400)?.length]).toEqual([1, crowd - 1]);
    expect(await balanceOf(stack, saver.accountId)).toBe('1000.0000');
    expect(await moves()).toHaveLength(1);
  }, 60_000);

  it('A contribution that arrives while its goal is being released is not lost', async () => {
    const [released] = await Promise.all([
      release(saver.accountId),
      ...Array.from({ length: 8 }, () => fromBalance(10)),
    ]);
    expect(released.status).toBe(200);
    expect(await balanceOf(stack, saver.accountId)).toBe('1000.0000');
    expect(await balanceOf(stack, goal.accountId)).toBe('0.0000');
  });

  it('A completed goal and an empty one can be released', async () => {
    const completed = await buildGoal(stack, saver, '100');
    await fund(stack, completed.accountId, '100');
    const { token } = saver;
    await stack.patch(`/v1/saving-goals/${completed.id}`, { target_amount: '99' }, { token });
    expect((await release(saver.accountId, saver, completed.id)).body.data).toMatchObject({ status: 'completed' });
    expect(await balanceOf(stack, saver.accountId)).toBe('1100.0000');
    expect((await release(saver.accountId)).status).toBe(200);
    expect(await moves()).toEqual([]);
  });

  it('An order paid after its goal was released is credited to the account that got the savings', async () => {
    const { data } = (await byGateway()).body;
    await release(saver.accountId);
    await stack.sandbox.post('/sandbox/pay', { payment_code: data.payment_code });
    await eventually(
      async () => (await stack.get(`/v1/payments/orders/${data.payment_order_id}`, { token: saver.token })).body.data,
      (order) => order.status === 'PAID',
    );
    expect(await balanceOf(stack, saver.accountId)).toBe('21000.0000');
    expect(await moves()).toEqual([
      { amount: '20000.0000', user_id: saver.id, destination_account_id: saver.accountId, type: 'price' },
    ]);
  });

  it('Releasing a goal is refused to others and into others’ accounts', async () => {
    await fromBalance(400);
    const other = await buildIndividual(stack);
    expect((await release(other.accountId, other)).status).toBe(403);
    expect((await release(other.accountId)).status).toBe(403);
    expect((await release(goal.accountId)).status).toBe(403);
    expect((await release(crypto.randomUUID())).status).toBe(404);
    expect((await release(saver.accountId, saver, crypto.randomUUID())).status).toBe(404);
    expect((await release('none')).status).toBe(400);
    expect(await balanceOf(stack, goal.accountId)).toBe('400.0000');
  });

  it('A goal of an organization’s user is released to an account of the organization', async () => {
    const admin = await buildOrganizationAdmin(stack);
    const { token } = admin;
    const made = await stack.post('/v1/saving-goals', { name: 'Van', target_amount: '500' }, { token });
    await fund(stack, made.body.data.account_id, '5');
    expect((await release(admin.accountId, admin, made.body.data.id)).status).toBe(200);
    expect(await balanceOf(stack, made.body.data.account_id)).toBe('0.0000');
  });

  it('The database rejects a release to someone else and the undoing of a release', async () => {
    const other = await buildIndividual(stack);
    const set = 'update saving_goals set closed_at = now(), released_to = ? where id = ?';
    await expect(stack.em().execute(set, [other.accountId, goal.id])).rejects.toThrow('not an account of the saver');
    await release(saver.accountId);
    const reopen = 'update saving_goals set closed_at = null, released_to = null where id = ?';
    await expect(stack.em().execute(reopen, [goal.id])).rejects.toThrow();
  });
});
