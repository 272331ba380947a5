import { type BuiltUser, balanceOf, buildIndividual, buildPlatformAdmin } from '../../support/build.ts';
import { itInFull } from '../../support/full.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let payer: BuiltUser;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  payer = await buildIndividual(stack);
});

const bca = 1;
const qris = 20;
const dana = 30;

const topUp = (body: object = {}, headers: Record<string, string> = {}) =>
  stack.post(
    '/v1/payments/gateway',
    { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: bca, amount: 50_000, ...body },
    { token: payer.token, headers },
  );

const orderOf = async (id: string) => (await stack.get(`/v1/payments/orders/${id}`, { token: payer.token })).body.data;
const orderWhen = (id: string, status: string) =>
  eventually(
    () => orderOf(id),
    (order) => order.status === status,
  );
const codeOf = (data: { payment_code: string | null; qr_code: string | null; payment_links: string | null }) =>
  data.payment_code ?? data.qr_code ?? data.payment_links;

describe('A top-up by gateway', () => {
  it.each([
    ['virtual account', bca, 'payment_code', 4000],
    ['QRIS', qris, 'qr_code', 0],
    ['e-wallet', dana, 'payment_links', 1500],
  ])('A top-up by %s returns 201 with the code or link to pay', async (_, paymentId, field, fee) => {
    const { status, body } = await topUp({ payment_id: paymentId });
    expect({ status, body }).toMatchObject({
      status: 201,
      body: {
        status: 'success',
        statusCode: 201,
        data: { nominal: 50_000, admin_fee: fee, transaction_total: 50_000 + fee },
      },
    });
    expect(body.data).toMatchObject({ payment_id: paymentId, status: 'WAITING_PAYMENT', status_id: 2 });
    expect(body.data.expired_date).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    expect(body.data.transaction_id).toEqual(expect.any(String));
    const codes = ['payment_code', 'qr_code', 'payment_links'].filter((name) => body.data[name] !== null);
    expect(codes).toEqual([field]);
  });

  it('A paid top-up credits the nominal and records a price and a fee transaction', async () => {
    const { body } = await topUp();
    await stack.sandbox.post('/sandbox/pay', { payment_code: body.data.payment_code });
    await orderWhen(body.data.payment_order_id, 'PAID');
    expect(await balanceOf(stack, payer.accountId)).toBe('50000.0000');
    const { body: list } = await stack.get('/v1/transactions', { token: payer.token });
    expect(list.data.count).toBe(2);
    expect(
      list.data.transactions.map(({ type, amount }: { type: string; amount: string }) => [type, amount]).sort(),
    ).toEqual([
      ['fee', '4000.0000'],
      ['price', '50000.0000'],
    ]);
    const price = list.data.transactions.find(({ type }: { type: string }) => type === 'price');
    expect(price).toMatchObject({
      user_id: payer.id,
      status: 'successful',
      source_account_id: payer.accountId,
      destination_account_id: null,
      reference_type: 'account_top_up',
      reference_id: payer.accountId,
      purpose: 'topup_pocket',
      payment_order_id: body.data.payment_order_id,
    });
    const fee = list.data.transactions.find(({ type }: { type: string }) => type === 'fee');
    const credited = await stack
      .em()
      .execute(
        "select p.account_id from postings p join accounts a on a.id = p.account_id where p.journal_id = ? and a.kind = 'fee_revenue'",
        [fee.batch_id],
      );
    expect(credited).toEqual([{ account_id: fee.source_account_id }]);
  });

  it('A top-up records an event for each status of its order, with the request id', async () => {
    const { body, headers } = await topUp();
    const { payment_order_id: id } = body.data;
    await stack.sandbox.post('/sandbox/pay', { payment_code: body.data.payment_code });
    await orderWhen(id, 'PAID');
    const { token } = await buildPlatformAdmin(stack);
    const { body: events } = await stack.get(`/v1/events?resource_id=${id}`, { token });
    const request_id = headers.get('x-request-id');
    expect(events.data.items).toMatchObject([
      { event: 'RESOURCE_UPDATED', request_id, data: { status: 'PAID' } },
      { event: 'RESOURCE_UPDATED', request_id, data: { status: 'WAITING_PAYMENT' } },
      { event: 'RESOURCE_CREATED', request_id, actor_id: payer.id },
    ]);
  });

  it('A declined top-up becomes FAILED and changes no balance', async () => {
    const { body } = await topUp({ payment_id: dana });
    await stack.sandbox.post('/sandbox/decline', { payment_code: codeOf(body.data) });
    await orderWhen(body.data.payment_order_id, 'FAILED');
    expect(await balanceOf(stack, payer.accountId)).toBe('0.0000');
  });

  it('A top-up whose instrument expires at the provider becomes EXPIRED', async () => {
    const { body } = await topUp({ payment_id: qris });
    await stack.sandbox.post('/sandbox/expire', { payment_code: codeOf(body.data) });
    await orderWhen(body.data.payment_order_id, 'EXPIRED');
  });

  itInFull('A top-up paid with the wrong amount stays payable, and the money goes to suspense', async () => {
    const { body } = await topUp();
    await stack.sandbox.post('/sandbox/pay', { payment_code: body.data.payment_code, amount: 1000 });
    await eventually(
      () =>
        stack
          .em()
          .execute("select amount from receipts where reference = ? and state = 'suspended'", [
            body.data.payment_order_id,
          ]),
      (rows) => rows.length === 1,
    );
    expect((await orderOf(body.data.payment_order_id)).status).toBe('WAITING_PAYMENT');
    await stack.sandbox.post('/sandbox/pay', { payment_code: body.data.payment_code });
    await orderWhen(body.data.payment_order_id, 'PAID');
    expect(await balanceOf(stack, payer.accountId)).toBe('50000.0000');
  });
});
