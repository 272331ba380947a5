import {
  type BuiltUser,
  balanceOf,
  buildIndividual,
  buildOrganization,
  buildOrganizationAdmin,
  buildPlatformAdmin,
  buildRole,
} from '../../support/build.ts';
import { buildActiveCause, buildGoal, buildProduct, openPoolAccount } from '../../support/build-targets.ts';
import { casesOf, itInFull } from '../../support/full.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let payer: BuiltUser;
let admin: BuiltUser;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  admin = await buildPlatformAdmin(stack);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  payer = await buildIndividual(stack);
});

const pay = (reference_type: string, reference_id: string, body: object = {}, token = payer.token) =>
  stack.post(
    '/v1/payments/gateway',
    { reference_type, reference_id, payment_id: 1, amount: 20_000, ...body },
    { token },
  );
const orderWhen = (id: string, status: string) =>
  eventually(
    async () => (await stack.get(`/v1/payments/orders/${id}`, { token: payer.token })).body.data,
    (order) => order.status === status,
  );
const settle = async (data: { payment_code: string; payment_order_id: string }) => {
  await stack.sandbox.post('/sandbox/pay', { payment_code: data.payment_code });
  await orderWhen(data.payment_order_id, 'PAID');
};
const product = (kind: 'investment' | 'takaful_tabaru', options: object = {}) =>
  buildProduct(stack, admin, { kind, ...options });

/** Every reference type with its ledger name and purpose; circles have their own tests. */
const types: [
  type: string,
  ledger: string,
  purpose: string,
  target: () => Promise<{ id: string; accountId: string }>,
][] = [
  [
    'account_top_up',
    'account_top_up',
    'topup_pocket',
    async () => ({ id: payer.accountId, accountId: payer.accountId }),
  ],
  ['charitable_cause_donate', 'donation', 'topup_product', () => buildActiveCause(stack)],
  [
    'charitable_cause_open_donate',
    'donation',
    'topup_product',
    async () => ({ id: openPoolAccount, accountId: openPoolAccount }),
  ],
  ['saving_goal_contribution', 'saving_goal', 'topup_product', () => buildGoal(stack, payer)],
  ['investment', 'investment', 'topup_product', () => product('investment')],
  [
    'commodity_financing_payment',
    'commodity_financing',
    'topup_product',
    () => buildProduct(stack, admin, { kind: 'commodity_financing' }),
  ],
  [
    'trusted_partner_investment',
    'investment',
    'topup_product',
    () => buildProduct(stack, admin, { kind: 'trusted_partner_investment' }),
  ],
  ['takaful_insurance', 'investment', 'topup_product', () => buildProduct(stack, admin, { kind: 'takaful_insurance' })],
  ['takaful_tabaru_contribution', 'donation', 'topup_product', () => product('takaful_tabaru')],
];

/** Outside the full run, one reference type for each of three ledger types. */
const shown = ['charitable_cause_open_donate', 'saving_goal_contribution', 'investment'];

describe('A payment by gateway', () => {
  it.each(casesOf(types, ([type]) => shown.includes(type)))(
    'A paid gateway payment of type %s is recorded with ledger type %s and purpose %s',
    async (type, ledger, purpose, build) => {
      const target = await build();
      const id = target.id;
      const before = await balanceOf(stack, target.accountId);
      const { status, body } = await pay(type, id);
      expect({ status, body }).toMatchObject({ status: 201, body: { status: 'success', statusCode: 201 } });
      expect(body.data).toMatchObject({ nominal: 20_000, reference_type: type, reference_id: id, status_id: 2 });
      expect((await stack.get('/v1/transactions', { token: payer.token })).body.data.count).toBe(0);
      expect(await balanceOf(stack, target.accountId)).toBe(before);
      await settle(body.data);
      expect(Number(await balanceOf(stack, target.accountId)) - Number(before)).toBe(20_000);
      const { body: list } = await stack.get('/v1/transactions?type=price', { token: payer.token });
      expect(list.data.transactions).toMatchObject([
        {
          user_id: payer.id,
          amount: '20000.0000',
          status: 'successful',
          source_account_id: target.accountId,
          destination_account_id: null,
          reference_type: ledger,
          reference_id: id,
          purpose,
          payment_order_id: body.data.payment_order_id,
        },
      ]);
      const { body: fees } = await stack.get('/v1/transactions?type=fee', { token: payer.token });
      expect(fees.data.transactions).toMatchObject([{ amount: '4000.0000', reference_type: ledger, purpose }]);
      const [fee] = fees.data.transactions;
      const credited = await stack
        .em()
        .execute<{ account_id: string }[]>('select account_id from postings where journal_id = ? and amount = ?', [
          fee.batch_id,
          fee.amount,
        ]);
      expect(credited).toEqual([{ account_id: fee.source_account_id }]);
      expect(fee.source_account_id).not.toBe(target.accountId);
    },
  );

  it.each(types.filter(([type]) => !['charitable_cause_open_donate'].includes(type)))(
    'A gateway payment of type %s for a missing target returns 404',
    async (type) => {
      expect((await pay(type, '00000000-0000-4000-8000-00000000dead')).status).toBe(404);
    },
  );

  it.each([
    ['account_top_up', 'top-up-account'],
    ['charitable_cause_donate', 'donate-charitable-cause'],
    ['charitable_cause_open_donate', 'donate-charitable-cause'],
    ['saving_goal_contribution', 'contribute-saving-goal'],
    ['investment', 'create-investment'],
    ['saving_circle_contribution', 'update-saving-circle'],
    ['commodity_financing_payment', 'pay-commodity-financing'],
    ['trusted_partner_investment', 'create-investment'],
    ['takaful_insurance', 'pay-takaful'],
    ['takaful_tabaru_contribution', 'pay-takaful'],
  ])('A gateway payment of type %s needs the permission %s', async (type, permission) => {
    const organizationId = await buildOrganization(stack);
    const role = await buildRole(stack, { organizationId, permissions: ['read-product'] });
    const user = await buildIndividual(stack, { organizationId, role: role.name });
    const answer = await pay(type, payer.accountId, {}, user.token);
    expect([answer.status, answer.body.message]).toEqual([403, expect.stringContaining(permission)]);
  });

  it("An organization's admin can top up its account by a gateway payment, and an outsider cannot", async () => {
    const organization = await buildOrganizationAdmin(stack);
    expect((await pay('account_top_up', organization.accountId, {}, organization.token)).status).toBe(201);
    expect((await pay('account_top_up', organization.accountId)).status).toBe(403);
  });

  it('A gateway payment’s limits apply to the total of nominal and fee, and are inclusive', async () => {
    for (const amount of [6_000, 49_996_000]) {
      expect((await pay('account_top_up', payer.accountId, { amount })).status).toBe(201);
    }
  });

  it.each([
    ['an unknown reference_type', { reference_type: 'donation' }, 'reference_type'],
    ['an unknown channel', { payment_id: 999 }, 'payment_id'],
    ['a fraction of a rupiah', { amount: 20_000.5 }, 'amount'],
    ['less than the channel’s minimum, fee included', { amount: 5_999 }, 'amount'],
    ['more than the channel’s maximum, fee included', { amount: 49_996_001 }, 'amount'],
    ['a text as amount', { amount: '20000' }, 'amount'],
    ['a name that is too long', { transaction_name: 'x'.repeat(101) }, 'transaction_name'],
    ['a description that is too long', { transaction_desc: 'x'.repeat(256) }, 'transaction_desc'],
    ['an unknown field', { source_account_id: 'x' }, 'source_account_id'],
  ])('A gateway payment with %s returns 400 and names the field', async (_, body, field) => {
    const answer = await pay('account_top_up', payer.accountId, body);
    expect(answer.status).toBe(400);
    expect(String(answer.body.message)).toContain(field);
  });

  it('A gateway payment for a closed or wrong product, or outside its minimum and target, returns 400', async () => {
    const closed = await product('investment', { status: 'closed' });
    expect((await pay('investment', closed.id)).status).toBe(400);
    expect((await pay('investment', (await product('takaful_tabaru')).id)).status).toBe(400);
    const bounded = await product('investment', { minimum: '30000', target: '40000' });
    expect((await pay('investment', bounded.id)).status).toBe(400);
    expect((await pay('investment', bounded.id, { amount: 40_001 })).status).toBe(400);
    expect((await pay('investment', bounded.id, { amount: 40_000 })).status).toBe(201);
  });

  it('A gateway payment is credited to its product even if the product was closed or filled since', async () => {
    const target = await product('investment', { target: '30000' });
    const orders = [await pay('investment', target.id), await pay('investment', target.id)];
    await settle(orders[0]?.body.data);
    await stack.patch(`/v1/products/${target.id}`, { status: 'closed' }, { token: admin.token });
    await settle(orders[1]?.body.data);
    expect(await balanceOf(stack, target.accountId)).toBe('40000.0000');
    const { body } = await stack.get(`/v1/products/${target.id}`, { token: payer.token });
    expect(body.data).toMatchObject({ status: 'closed', current_amount: '40000.0000' });
  });
});

describe('A contribution to a saving goal by gateway', () => {
  it('A goal accepts only its owner’s gateway payments up to its target, and is then completed', async () => {
    const stranger = await buildIndividual(stack);
    const goal = await buildGoal(stack, payer, '20000');
    expect((await pay('saving_goal_contribution', goal.id, {}, stranger.token)).status).toBe(403);
    expect((await pay('saving_goal_contribution', goal.id, { amount: 20_001 })).status).toBe(400);
    const { body } = await pay('saving_goal_contribution', goal.id);
    await settle(body.data);
    const { body: reached } = await stack.get(`/v1/saving-goals/${goal.id}`, { token: payer.token });
    expect(reached.data).toMatchObject({ status: 'completed', current_amount: '20000.0000' });
    expect((await pay('saving_goal_contribution', goal.id)).status).toBe(400);
  });

  itInFull('A gateway contribution can exceed the target if the goal was filled in the meantime', async () => {
    const saver = await buildIndividual(stack, { balance: '20000' });
    payer = saver;
    const goal = await buildGoal(stack, saver, '20000');
    const { body } = await pay('saving_goal_contribution', goal.id);
    const filled = await stack.post(
      '/v1/payments/balance',
      {
        reference_type: 'saving_goal_contribution',
        reference_id: goal.id,
        source_account_id: saver.accountId,
        amount: 20_000,
      },
      { token: saver.token },
    );
    expect(filled.status).toBe(201);
    await settle(body.data);
    const { body: over } = await stack.get(`/v1/saving-goals/${goal.id}`, { token: payer.token });
    expect(over.data).toMatchObject({ status: 'completed', current_amount: '40000.0000' });
  });

  it('A gateway contribution returns 400 while another order for the goal is open, but not afterwards', async () => {
    const goal = await buildGoal(stack, payer);
    const { body } = await pay('saving_goal_contribution', goal.id);
    const repeat = await pay('saving_goal_contribution', goal.id, { amount: 30_000 });
    expect([repeat.status, repeat.body.message]).toEqual([400, expect.stringContaining('open payment order')]);
    await stack.sandbox.post('/sandbox/expire', { payment_code: body.data.payment_code });
    await orderWhen(body.data.payment_order_id, 'EXPIRED');
    const again = await pay('saving_goal_contribution', goal.id);
    expect(again.status).toBe(201);
    await settle(again.body.data);
    expect((await pay('saving_goal_contribution', goal.id)).status).toBe(201);
  });

  itInFull.each([['a declined e-wallet payment', 30, '/sandbox/decline', 'FAILED', 'failed']])(
    'A gateway contribution is accepted again after %s',
    async (_, payment_id, path, status, pending) => {
      const goal = await buildGoal(stack, payer);
      const { body } = await pay('saving_goal_contribution', goal.id, { payment_id });
      await stack.sandbox.post(path, { payment_code: body.data.payment_links });
      await orderWhen(body.data.payment_order_id, status);
      const rows = await stack
        .em()
        .execute<{ status: string }[]>('select status from saving_goal_orders where saving_goal_id = ?', [goal.id]);
      expect(rows).toEqual([{ status: pending }]);
      expect((await pay('saving_goal_contribution', goal.id)).status).toBe(201);
    },
  );
});
