import {
  type BuiltUser,
  balanceOf,
  buildIndividual,
  buildOrganization,
  buildOrganizationAdmin,
  buildPlatformAdmin,
  buildRole,
  buildSuperAdmin,
} from '../../support/build.ts';
import { buildActiveCause, buildGoal, buildProduct, openPoolAccount } from '../../support/build-targets.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let payer: BuiltUser;
let admin: BuiltUser;
beforeAll(async () => {
  stack = await startStack();
  admin = await buildPlatformAdmin(stack);
});
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  payer = await buildIndividual(stack, { balance: '1000000' });
});

const pay = (body: object, headers: Record<string, string> = {}, token = payer.token) =>
  stack.post(
    '/v1/payments/balance',
    { source_account_id: payer.accountId, amount: 10_000, ...body },
    { token, headers },
  );
const invest = async (options: object = {}) => {
  const product = await buildProduct(stack, admin, { kind: 'investment', ...options });
  return { reference_type: 'investment', reference_id: product.id, accountId: product.accountId };
};
const bodyOf = ({ reference_type, reference_id }: { reference_type: string; reference_id: string }) => ({
  reference_type,
  reference_id,
});
const transactionsOf = async (user = payer) =>
  (await stack.get('/v1/transactions?limit=100', { token: user.token })).body.data.transactions;

/**
 * Every reference type that may be paid from a balance, with its ledger name, except circles, which have their own
 * test.
 */
const payable: [type: string, ledgerType: string, target: () => Promise<{ id: string; accountId: string }>][] = [
  ['charitable_cause_donate', 'donation', () => buildActiveCause(stack)],
  ['charitable_cause_open_donate', 'donation', async () => ({ id: openPoolAccount, accountId: openPoolAccount })],
  ['saving_goal_contribution', 'saving_goal', () => buildGoal(stack, payer)],
  ['investment', 'investment', () => buildProduct(stack, admin, { kind: 'investment' })],
  [
    'commodity_financing_payment',
    'commodity_financing',
    () => buildProduct(stack, admin, { kind: 'commodity_financing' }),
  ],
  ['takaful_tabaru_contribution', 'donation', () => buildProduct(stack, admin, { kind: 'takaful_tabaru' })],
];

const completedEvent = { event: 'RESOURCE_UPDATED', data: { status: 'completed' } };
async function newestEventOf(resourceId: string) {
  const { body } = await stack.get(`/v1/events?resource_id=${resourceId}&limit=1`, { token: admin.token });
  return body.data.items[0];
}

describe('A payment from a balance', () => {
  it.each(payable)(
    'A balance payment of type %s is recorded with ledger type %s and purpose product_transfer',
    async (type, ledger, build) => {
      const target = await build();
      const before = await balanceOf(stack, target.accountId);
      const { status, body } = await pay({ reference_type: type, reference_id: target.id, amount: 2500.5 });
      expect({ status, body }).toEqual({
        status: 201,
        body: {
          status: 'success',
          statusCode: 201,
          message: expect.any(String),
          data: {
            transaction_id: expect.any(String),
            amount: '2500.5000',
            new_balance: '997499.5000',
            reference_type: type,
            reference_id: target.id,
          },
        },
      });
      expect(await balanceOf(stack, payer.accountId)).toBe('997499.5000');
      expect(Number(await balanceOf(stack, target.accountId)) - Number(before)).toBe(2500.5);
      expect(await transactionsOf()).toMatchObject([
        {
          id: body.data.transaction_id,
          user_id: payer.id,
          amount: '2500.5000',
          status: 'successful',
          source_account_id: payer.accountId,
          destination_account_id: target.accountId,
          type: 'price',
          reference_type: ledger,
          reference_id: target.id,
          purpose: 'product_transfer',
          payment_order_id: null,
        },
      ]);
      const { body: events } = await stack.get(`/v1/events?resource_id=${body.data.transaction_id}`, {
        token: admin.token,
      });
      expect(events.data.items).toMatchObject([{ event: 'RESOURCE_CREATED', actor_id: payer.id, impact: 'MEDIUM' }]);
    },
  );

  it.each(['account_top_up', 'trusted_partner_investment', 'takaful_insurance'])(
    'A balance payment of type %s returns 400: its handler does not support the method',
    async (type) => {
      const { status, body } = await pay({ reference_type: type, reference_id: payer.accountId });
      expect({ status, body }).toMatchObject({ status: 400, body: { statusCode: 400, error: 'Bad Request' } });
      expect(body.message).toContain('reference_type');
    },
  );

  it.each([
    ['an unknown reference_type', { reference_type: 'gift' }, 'reference_type'],
    ['a name of the ledger enum', { reference_type: 'saving_goal' }, 'reference_type'],
    ['a reference_id that is no UUID', { reference_id: 'x' }, 'reference_id'],
    ['no source_account_id', { source_account_id: undefined }, 'source_account_id'],
    ['an amount of zero', { amount: 0 }, 'amount'],
    ['a negative amount', { amount: -1 }, 'amount'],
    ['a text as amount', { amount: '10' }, 'amount'],
    ['an amount with five decimals', { amount: 1.00001 }, 'amount'],
    ['an unknown field', { payment_id: 1 }, 'payment_id'],
  ])('A balance payment with %s returns 400 and names the field', async (_, wrong, field) => {
    const answer = await pay({ ...bodyOf(await invest()), ...wrong });
    expect(answer.status).toBe(400);
    expect(String(answer.body.message)).toContain(field);
    expect(await balanceOf(stack, payer.accountId)).toBe('1000000.0000');
  });

  it('A balance payment parses its amount exactly: 0.0001 is accepted, excess digits return 400', async () => {
    const target = bodyOf(await invest());
    const { body } = await pay({ ...target, amount: 0.0001 });
    expect(body.data).toMatchObject({ amount: '0.0001', new_balance: '999999.9999' });
    const raw = JSON.stringify({ ...target, source_account_id: payer.accountId, amount: 1 });
    const post = (amount: string) =>
      stack.post('/v1/payments/balance', undefined, {
        token: payer.token,
        raw: raw.replace('"amount":1', `"amount":${amount}`),
        headers: { 'content-type': 'application/json' },
      });
    expect((await post('12345678901.23456')).status).toBe(400);
    expect((await post('123456789012345678')).status).toBe(400);
    expect((await post('100.1')).body.data).toMatchObject({ amount: '100.1000', new_balance: '999899.8999' });
  });

  it('A balance payment can spend the whole balance; a larger one returns 400 and moves no money', async () => {
    const target = await invest();
    expect((await pay({ ...bodyOf(target), amount: 1_000_000.0001 })).status).toBe(400);
    expect(await transactionsOf()).toEqual([]);
    expect((await pay({ ...bodyOf(target), amount: 1_000_000 })).body.data.new_balance).toBe('0.0000');
    const { status, body } = await pay({ ...bodyOf(target), amount: 0.0001 });
    expect({ status, body }).toMatchObject({ status: 400, body: { error: 'Bad Request' } });
  });

  it('A balance payment returns 403 for a foreign source, 404 for a missing one and 401 without a token', async () => {
    const target = bodyOf(await invest());
    const stranger = await buildIndividual(stack, { balance: '10' });
    const organization = await buildOrganizationAdmin(stack, { balance: '10' });
    for (const source_account_id of [stranger.accountId, organization.accountId, openPoolAccount]) {
      expect((await pay({ ...target, source_account_id })).status).toBe(403);
    }
    expect((await pay({ ...target, source_account_id: target.reference_id })).status).toBe(404);
    expect((await stack.post('/v1/payments/balance', target)).status).toBe(401);
    const superAdmin = await buildSuperAdmin(stack);
    expect((await pay(target, {}, superAdmin.token)).status).toBe(403);
  });

  it("An organization's admins can pay from its account, and its individuals cannot", async () => {
    const organization = await buildOrganizationAdmin(stack, { balance: '5000' });
    const member = await buildIndividual(stack, { organizationId: organization.organizationId });
    const body = { ...bodyOf(await invest()), source_account_id: organization.accountId, amount: 1000 };
    expect((await pay(body, {}, organization.token)).body.data.new_balance).toBe('4000.0000');
    expect((await pay(body, {}, member.token)).status).toBe(403);
  });

  it('A balance payment into its source account returns 400', async () => {
    const cause = await buildActiveCause(stack, payer);
    const { status, body } = await pay({ reference_type: 'charitable_cause_donate', reference_id: cause.id });
    expect(status).toBe(400);
    expect(body.message).toContain('into itself');
    const stranger = await buildIndividual(stack);
    const theirs = { ...bodyOf({ reference_type: 'charitable_cause_donate', reference_id: cause.id }) };
    expect((await pay(theirs, {}, stranger.token)).status).toBe(403);
  });

  it.each([
    ['charitable_cause_donate', 'donate-charitable-cause'],
    ['charitable_cause_open_donate', 'donate-charitable-cause'],
    ['saving_goal_contribution', 'contribute-saving-goal'],
    ['investment', 'create-investment'],
    ['saving_circle_contribution', 'update-saving-circle'],
    ['commodity_financing_payment', 'pay-commodity-financing'],
    ['takaful_tabaru_contribution', 'pay-takaful'],
  ])('A balance payment of type %s needs the permission %s of its handler', async (reference_type, permission) => {
    const organizationId = await buildOrganization(stack);
    const without = await buildRole(stack, { organizationId, permissions: ['read-product'] });
    const having = await buildRole(stack, { organizationId, permissions: [permission] });
    const body = { reference_type, reference_id: '00000000-0000-4000-8000-00000000dead' };
    const lacking = await buildIndividual(stack, { organizationId, role: without.name });
    const refused = await pay(body, {}, lacking.token);
    expect([refused.status, refused.body.message]).toEqual([403, expect.stringContaining(permission)]);
    const allowed = await buildIndividual(stack, { organizationId, role: having.name });
    expect((await pay(body, {}, allowed.token)).body.message).not.toContain('permission');
  });
});

describe('The target of a payment', () => {
  it.each(payable.filter(([type]) => type !== 'charitable_cause_open_donate'))(
    'A payment of type %s to a missing target returns 404',
    async (type) => {
      const answer = await pay({ reference_type: type, reference_id: '00000000-0000-4000-8000-00000000dead' });
      expect(answer.status).toBe(404);
    },
  );

  it('A payment’s product must be of the kind that the reference type names', async () => {
    const { reference_id } = await invest();
    expect((await pay({ reference_type: 'takaful_tabaru_contribution', reference_id })).status).toBe(400);
  });

  it.each(['closed', 'completed'])('A payment for a product that is %s returns 400', async (status) => {
    const options = status === 'completed' ? { target: '1' } : {};
    const target = await invest(options);
    if (status === 'completed') expect((await pay({ ...bodyOf(target), amount: 1 })).status).toBe(201);
    else await stack.patch(`/v1/products/${target.reference_id}`, { status }, { token: admin.token });
    const answer = await pay(bodyOf(target));
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain(status);
  });

  it('A product accepts amounts from its minimum to the rest of its target, which completes it', async () => {
    const target = await invest({ target: '5000', minimum: '100' });
    const paying = (amount: number) => pay({ ...bodyOf(target), amount });
    expect((await paying(99.9999)).status).toBe(400);
    expect((await paying(5000.0001)).status).toBe(400);
    expect((await paying(4000)).status).toBe(201);
    expect((await paying(1000.0001)).status).toBe(400);
    expect((await paying(1000)).status).toBe(201);
    const { body } = await stack.get(`/v1/products/${target.reference_id}`, { token: payer.token });
    expect(body.data).toMatchObject({ status: 'completed', current_amount: '5000.0000' });
    expect(await newestEventOf(target.reference_id)).toMatchObject(completedEvent);
  });

  it('A product accepts exactly the rest of its target even below its minimum', async () => {
    const target = await invest({ target: '5000', minimum: '100' });
    const paying = (amount: number) => pay({ ...bodyOf(target), amount });
    expect((await paying(4950)).status).toBe(201);
    for (const amount of [49.9999, 50.0001, 100]) {
      const { status, body } = await paying(amount);
      expect([status, body.message]).toEqual([400, 'amount: the product takes exactly IDR 50.0000']);
    }
    expect((await paying(50)).status).toBe(201);
    const { body } = await stack.get(`/v1/products/${target.reference_id}`, { token: payer.token });
    expect(body.data).toMatchObject({ status: 'completed', current_amount: '5000.0000' });
  });

  it('A goal accepts only its owner’s payments, up to its target; reaching the target completes it', async () => {
    const other = await buildIndividual(stack);
    const theirs = await buildGoal(stack, other);
    const contribute = (reference_id: string, amount: number) =>
      pay({ reference_type: 'saving_goal_contribution', reference_id, amount });
    expect((await contribute(theirs.id, 1)).status).toBe(403);
    const own = await buildGoal(stack, payer, '300');
    expect((await contribute(own.id, 300.0001)).status).toBe(400);
    expect((await contribute(own.id, 300)).status).toBe(201);
    const { body } = await stack.get(`/v1/saving-goals/${own.id}`, { token: payer.token });
    expect(body.data).toMatchObject({ status: 'completed', current_amount: '300.0000' });
    expect(await newestEventOf(own.id)).toMatchObject(completedEvent);
    expect((await contribute(own.id, 0.0001)).status).toBe(400);
  });

  it('Concurrent balance payments never exceed the target or the balance', async () => {
    const goal = await buildGoal(stack, payer, '100');
    const product = await invest({ target: '70' });
    const answers = await Promise.all([
      ...Array.from({ length: 20 }, () =>
        pay({ reference_type: 'saving_goal_contribution', reference_id: goal.id, amount: 10 }),
      ),
      ...Array.from({ length: 15 }, () => pay({ ...bodyOf(product), amount: 10 })),
    ]);
    const taken = (from: number, to: number) => answers.slice(from, to).filter(({ status }) => status === 201).length;
    expect([taken(0, 20), taken(20, 35)]).toEqual([10, 7]);
    expect(answers.every(({ status }) => status === 201 || status === 400)).toBe(true);
    const poor = await buildIndividual(stack, { balance: '55' });
    const target = bodyOf(await invest());
    const debits = await Promise.all(
      Array.from({ length: 20 }, () =>
        pay({ ...target, source_account_id: poor.accountId, amount: 10 }, {}, poor.token),
      ),
    );
    expect(debits.filter(({ status }) => status === 201)).toHaveLength(5);
    expect(await balanceOf(stack, poor.accountId)).toBe('5.0000');
  });
});
