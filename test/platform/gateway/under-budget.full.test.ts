import { buildPayer, pay, payoutWhen, setFaults, transfersOf } from '../../money-out/payouts/build-payouts.ts';
import { buildIndividual, buildPlatformAdmin } from '../../support/build.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

/** The product under a budget of calls to the provider; call-budget.test.ts covers the budget itself. */
let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true, env: { PROVIDER_CALLS_PER_MINUTE: '6000' } });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
afterEach(() => setFaults(stack, {}));

const fill = (tokens: number) =>
  stack
    .owner()
    .execute('update provider_budget set tokens = ?, filled_at = clock_timestamp(), paused_until = null', [tokens]);

describe('Calls on behalf of partners', () => {
  it('Calls for a partner count against that partner, and other calls do not', async () => {
    await fill(1_000);
    const [partner, payer] = [await buildPayer(stack), await buildIndividual(stack)];
    const counted = () =>
      stack.em().execute<{ partner_id: string; calls: number }[]>('select partner_id, calls from provider_callers');
    const calls = async () => (await counted()).find(({ partner_id }) => partner_id === partner.id)?.calls ?? 0;
    const before = await counted();
    const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 };
    expect((await stack.post('/v1/payments/gateway', body, { token: payer.token })).status).toBe(201);
    expect(await counted()).toEqual(before);
    const payment = { method: 'virtual_account', channel: 'BCA', amount: '50000' };
    const { body: made } = await partner.post('/payments', payment);
    expect(made).toMatchObject({ data: { payment_code: expect.any(String) } });
    const asked = await calls();
    expect(asked).toBeGreaterThan(0);
    const { id } = await pay(partner);
    await payoutWhen(partner, id, 'succeeded');
    expect(await calls()).toBeGreaterThan(asked);
  }, 60_000);
});

describe('While the provider returns 429', () => {
  it('Payouts and payments neither fail nor need an operator while the provider returns 429', async () => {
    await fill(1_000);
    const [partner, payer, operator] = [
      await buildPayer(stack),
      await buildIndividual(stack),
      await buildPlatformAdmin(stack),
    ];
    await setFaults(stack, { requests: { limit_rate: 1, retry_after_seconds: 2 } });
    const { id } = await pay(partner);
    const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 };
    const paying = stack.post('/v1/payments/gateway', body, { token: payer.token });
    await eventually(
      () => stack.em().execute('select last_word from payouts where id = ?', [id]),
      ([row]) => row?.last_word === 'unsent',
    );
    const { body: stuck } = await stack.get('/v1/payouts/stuck', { token: operator.token });
    const listed = stuck.data.items.map((item: { payout_id: string | null }) => item.payout_id);
    expect(listed).not.toContain(id);
    await setFaults(stack, {});
    const { status, body: made } = await paying;
    expect(status).toBe(201);
    await eventually(
      () => stack.get(`/v1/payments/orders/${made.data.payment_order_id}`, { token: payer.token }),
      ({ body: order }) => typeof order.data.payment_code === 'string',
    );
    await payoutWhen(partner, id, 'succeeded');
    expect(await transfersOf(stack, id)).toHaveLength(1);
  }, 60_000);
});
