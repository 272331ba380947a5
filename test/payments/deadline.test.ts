import { type BuiltUser, balanceOf, buildIndividual } from '../support/build.ts';
import { eventually, expectChecksEmpty } from '../support/stack.ts';
import { startTimeSkippingStack, type TimeSkippingStack } from '../support/time-skipping.ts';

let stack: TimeSkippingStack;
let payer: BuiltUser;
beforeAll(async () => {
  stack = await startTimeSkippingStack();
  payer = await buildIndividual(stack);
}, 90_000);
afterAll(() => stack.stop());
afterEach(() => expectChecksEmpty(stack));

async function topUp(): Promise<{ payment_order_id: string; payment_code: string }> {
  const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 75_000 };
  const answer = await stack.post('/v1/payments/gateway', body, { token: payer.token });
  expect(answer.status).toBe(201);
  return answer.body.data;
}

const statusOf = async (id: string) =>
  (await stack.get(`/v1/payments/orders/${id}`, { token: payer.token })).body.data.status;
const resultOf = (id: string) => stack.time.client.workflow.getHandle(`gateway-payment/${id}`).result();

describe('A payment order at its deadline of 24 hours', () => {
  it('is expired at the provider, ends EXPIRED, and the instrument takes no more orders', async () => {
    const order = await topUp();
    expect(await resultOf(order.payment_order_id)).toBe('EXPIRED');
    expect(await statusOf(order.payment_order_id)).toBe('EXPIRED');
  });

  it('is settled when it was paid and every callback was lost: the workflow asks by itself', async () => {
    await stack.sandbox.put('/sandbox/faults', { callbacks: { drop: true } });
    try {
      const order = await topUp();
      await stack.sandbox.post('/sandbox/pay', { payment_code: order.payment_code });
      expect(await resultOf(order.payment_order_id)).toBe('PAID');
      expect(await balanceOf(stack, payer.accountId)).toBe('75000.0000');
    } finally {
      await stack.sandbox.put('/sandbox/faults', {});
    }
  });

  it('paid too late stays EXPIRED, and the money is in suspense with an open workflow of its own', async () => {
    const order = await topUp();
    expect(await resultOf(order.payment_order_id)).toBe('EXPIRED');
    const before = await balanceOf(stack, payer.accountId);
    await stack.sandbox.post('/sandbox/pay', { payment_code: order.payment_code });
    const [receipt] = await eventually(
      () =>
        stack
          .em()
          .execute<{ id: string; reason: string; state: string }[]>(
            'select id, reason, state from receipts where reference = ?',
            [order.payment_order_id],
          ),
      (rows) => rows.length === 1,
    );
    expect(receipt).toMatchObject({ reason: 'late', state: 'suspended' });
    const { status } = await stack.deps.temporal.client.workflow
      .getHandle(`unmatched-receipt/${receipt?.id}`)
      .describe();
    expect(status.name).toBe('RUNNING');
    expect(await statusOf(order.payment_order_id)).toBe('EXPIRED');
    expect(await balanceOf(stack, payer.accountId)).toBe(before);
  });

  it('whose provider fails for an hour is PENDING meanwhile, and gets its one instrument afterwards', async () => {
    await stack.sandbox.put('/sandbox/faults', { requests: { error_rate: 1 } });
    const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 20_000 };
    const { status, body: answer } = await stack.post('/v1/payments/gateway', body, { token: payer.token });
    expect(status).toBe(201);
    expect(answer.data).toMatchObject({ status: 'PENDING', status_id: 1, payment_code: null });
    await stack.time.sleep('1 hour');
    await stack.sandbox.put('/sandbox/faults', {});
    await stack.time.sleep('10 minutes');
    await eventually(
      () => statusOf(answer.data.payment_order_id),
      (now) => now === 'WAITING_PAYMENT',
    );
    const records = await stack.sandbox.get('/sandbox/records');
    const mine = records.body.payments.filter(
      ({ reference_id }: { reference_id: string }) => reference_id === answer.data.payment_order_id,
    );
    expect(mine).toHaveLength(1);
    expect(await resultOf(answer.data.payment_order_id)).toBe('EXPIRED');
  }, 60_000);
});
