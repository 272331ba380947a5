import { randomUUID } from 'node:crypto';
import { settlePartnerPayment } from '../../../src/money-in/collections/settle-partner-payment.ts';
import { settlePayment } from '../../../src/money-in/payments/settle-payment.ts';
import { settleReceipt } from '../../../src/money-in/payments/settle-receipt.ts';
import { newId, receiptIdFor } from '../../../src/shared/ids.ts';
import { type BuiltUser, balanceOf, buildIndividual } from '../../support/build.ts';
import { buildOperators, plantDecision } from '../../support/decide.ts';
import { casesOf, itInFull } from '../../support/full.ts';
import { type BuiltPartner, buildPartner } from '../../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

/** Callbacks with the right token and wrong data: the provider's record of the payment names its owner. */
let stack: Stack;
let payer: BuiltUser;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  partner = await buildPartner(stack);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  payer = await buildIndividual(stack);
  await stack.sandbox.put('/sandbox/faults', { callbacks: { drop: true } });
});

interface Instrument {
  id: string;
  payment_code: string;
}

async function openOrder(): Promise<Instrument> {
  const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 };
  const { status, body: answer } = await stack.post('/v1/payments/gateway', body, { token: payer.token });
  expect(status).toBe(201);
  return { id: answer.data.payment_order_id, payment_code: answer.data.payment_code };
}

async function openPartnerPayment(): Promise<Instrument> {
  const answer = await partner.post('/payments', { method: 'virtual_account', channel: 'BNI', amount: '54000' });
  expect(answer.status).toBe(200);
  return answer.body.data;
}

interface Payment {
  id: string;
  amount: number;
  payment_method: { id: string };
}
/** Makes a payment without a callback. */
const pay = async ({ payment_code }: Instrument, amount?: number): Promise<Payment> =>
  (await stack.sandbox.post('/sandbox/pay', { payment_code, ...(amount && { amount }) })).body;

const send = (reference_id: string, { id, payment_method }: Payment, { event = 'payment.succeeded', ...facts } = {}) =>
  stack.post(
    '/v1/gateway/callbacks/xendit',
    { event, data: { id, reference_id, payment_method, amount: 54_000, status: 'SUCCEEDED', ...facts } },
    { headers: { 'x-callback-token': stack.callbackToken, 'webhook-id': randomUUID() } },
  );

const statusIn = async (table: Table, id: string) =>
  (await stack.em().execute<{ status: string }[]>(`select status from ${table} where id = ?`, [id]))[0]?.status;
const becomes = (table: Table, { id }: Instrument, wanted: string) =>
  eventually(
    () => statusIn(table, id),
    (status) => status === wanted,
  );
const receiptsOf = (payment: Payment) =>
  stack
    .em()
    .execute<{ state: string; reason: string | null }[]>(
      'select state, reason from receipts where provider_payment_id = ?',
      [payment.id],
    );
const caseOf = (payment: Payment) =>
  stack.deps.workflows.client.workflow.getHandle(`unmatched-receipt/${receiptIdFor(payment.id)}`);

type Table = 'payment_orders' | 'partner_payments';
type Final = 'PAID' | 'FAILED' | 'EXPIRED';

/** Makes a payment final at the provider, with its callback. */
async function end(table: Table, instrument: Instrument, status: Final): Promise<void> {
  const { payment_code } = instrument;
  await stack.sandbox.put('/sandbox/faults', {});
  if (status === 'PAID') await pay(instrument);
  else await stack.sandbox.post(status === 'FAILED' ? '/sandbox/decline' : '/sandbox/expire', { payment_code });
  await becomes(table, instrument, status);
  await stack.sandbox.put('/sandbox/faults', { callbacks: { drop: true } });
}

async function finalOrder(): Promise<Instrument> {
  const order = await openOrder();
  await end('payment_orders', order, 'EXPIRED');
  return order;
}

describe('A payment whose callback names another owner', () => {
  const ofAnOrder: [string, () => Promise<{ id: string }>, object?][] = [
    ['an unknown reference', async () => ({ id: randomUUID() })],
    ['a reference that is not an id', async () => ({ id: 'INV-2026-1' })],
    ['another open order', openOrder],
    ['another final order', finalOrder],
    ['a partner’s open payment', openPartnerPayment],
    [
      'an unknown reference, another amount and another status',
      async () => ({ id: randomUUID() }),
      { amount: 1, status: 'FAILED' },
    ],
    ['an unknown reference and a failed payment', async () => ({ id: randomUUID() }), { event: 'payment.failed' }],
  ];
  // ‘An unmatched-receipt case closes once …’ below covers an unknown reference.
  const standing = ['a reference that is not an id', 'another open order', 'an unknown reference and a failed payment'];
  it.each(casesOf(ofAnOrder, ([name]) => standing.includes(name)))(
    'An order is settled by its payment even if the callback names %s',
    async (_, named, facts = {}) => {
      const order = await openOrder();
      const payment = await pay(order);
      await send((await named()).id, payment, facts);
      await becomes('payment_orders', order, 'PAID');
      expect(await receiptsOf(payment)).toEqual([{ state: 'applied', reason: null }]);
      expect(await balanceOf(stack, payer.accountId)).toBe('50000.0000');
    },
    60_000,
  );

  it.each(
    casesOf<[string, () => Promise<{ id: string }>]>([
      ['a user’s open order', openOrder],
      ['a user’s final order', finalOrder],
      ['an unknown reference', async () => ({ id: randomUUID() })],
    ]),
  )(
    'A partner’s payment is settled even if the callback names %s',
    async (_, named) => {
      const mine = await openPartnerPayment();
      const payment = await pay(mine);
      await send((await named()).id, payment);
      await becomes('partner_payments', mine, 'PAID');
      expect(await receiptsOf(payment)).toEqual([{ state: 'applied', reason: null }]);
    },
    60_000,
  );
});

describe('An unmatched-receipt case of money that has an owner', () => {
  it('An unmatched-receipt case closes once its money is applied, and posts nothing to suspense', async () => {
    const order = await openOrder();
    const payment = await pay(order);
    await send(randomUUID(), payment);
    await becomes('payment_orders', order, 'PAID');
    expect(await caseOf(payment).result()).toBe('applied');
    expect(await receiptsOf(payment)).toEqual([{ state: 'applied', reason: null }]);
  });
});

describe('Money that cannot be applied, whatever its callback names', () => {
  it('Money for an expired order goes to suspense as late even if its callback names an open order', async () => {
    const [late, open] = [await finalOrder(), await openOrder()];
    const payment = await pay(late);
    await send(open.id, payment);
    await eventually(
      () => receiptsOf(payment),
      (rows) => rows.length === 1,
    );
    expect(await receiptsOf(payment)).toEqual([{ state: 'suspended', reason: 'late' }]);
    await send(open.id, await pay(open));
    await becomes('payment_orders', open, 'PAID');
  });

  it('A payment of the wrong amount goes to suspense even if its callback names an unknown reference', async () => {
    const order = await openOrder();
    const payment = await pay(order, 1_000);
    await send(randomUUID(), payment);
    await eventually(
      () => receiptsOf(payment),
      (rows) => rows.length === 1,
    );
    expect(await receiptsOf(payment)).toEqual([{ state: 'suspended', reason: 'wrong_amount' }]);
    expect(await statusIn('payment_orders', order.id)).toBe('WAITING_PAYMENT');
  });

  it('Of two payments made before any callback, one settles the order, the other is suspended as double', async () => {
    const order = await openOrder();
    const payments = [await pay(order), await pay(order)];
    for (const payment of payments) await send(randomUUID(), payment);
    const found = await eventually(
      async () => (await Promise.all(payments.map(receiptsOf))).flat(),
      (rows) => rows.length === 2,
      60_000,
    );
    expect(found.map(({ state }) => state).toSorted()).toEqual(['applied', 'suspended']);
    expect(found.find(({ state }) => state === 'suspended')?.reason).toBe('double');
    expect(await statusIn('payment_orders', order.id)).toBe('PAID');
  }, 90_000);
});

describe('Money that arrived for a final payment without a callback', () => {
  const expectFound = async (payment: Payment, status: Final) => {
    await eventually(
      () => receiptsOf(payment),
      (rows) => rows.length === 1,
    );
    const reason = status === 'PAID' ? 'double' : 'late';
    expect(await receiptsOf(payment)).toEqual([{ state: 'suspended', reason }]);
  };

  it.each(casesOf<Final>(['PAID', 'FAILED', 'EXPIRED'], (status) => status === 'PAID'))(
    'A hint for an order that is %s moves money that arrived later without a callback to suspense',
    async (status) => {
      const order = await openOrder();
      await end('payment_orders', order, status);
      const payment = await pay(order);
      await stack.deps.workflows.hintGatewayPayment(order.id);
      await expectFound(payment, status);
    },
  );

  const ends: [Final, number][] = [
    ['PAID', 0],
    ['PAID', 24],
    ['EXPIRED', 0],
  ];
  it.each(casesOf(ends, ([status, hours]) => status === 'EXPIRED' || hours > 0))(
    'A hint for a partner’s payment that is %s (settlement delay of %d hours) moves later money to suspense',
    async (status, hours) => {
      partner = await buildPartner(stack, { settlementDelayHours: hours });
      const mine = await openPartnerPayment();
      await end('partner_payments', mine, status);
      const payment = await pay(mine);
      await stack.deps.workflows.hintPartnerPayment(mine.id);
      await expectFound(payment, status);
    },
  );
});

describe('Money of a final payment', () => {
  it.each<[string, string, (payment: Payment) => object]>([
    ['names no method', 'payment.succeeded', ({ id }) => ({ id })],
    ['names the request only', 'payment_request.succeeded', ({ payment_method }) => ({ id: 'pr-1', payment_method })],
  ])('Money for an expired order goes to suspense as late if its callback %s', async (_, event, named) => {
    const order = await finalOrder();
    const payment = await pay(order);
    await stack.post(
      '/v1/gateway/callbacks/xendit',
      { event, data: { reference_id: order.id, ...named(payment) } },
      { headers: { 'x-callback-token': stack.callbackToken, 'webhook-id': randomUUID() } },
    );
    const rows = await eventually(
      () => receiptsOf(payment),
      (found) => found.length === 1,
    );
    expect(rows).toEqual([{ state: 'suspended', reason: 'late' }]);
  });
});

const confirmed = ({ id, payment_method }: Payment) => ({
  providerPaymentId: id,
  providerPaymentMethodId: payment_method.id,
  amount: '54000.0000',
});
const settling = () => ({ sealer: stack.deps.sealer, workflows: stack.deps.workflows });

describe('Settlement of a final payment', () => {
  const expectSuspended = async (payment: Payment) => {
    await eventually(
      () => receiptsOf(payment),
      (rows) => rows.length === 1,
    );
    expect(await receiptsOf(payment)).toEqual([{ state: 'suspended', reason: 'late' }]);
  };

  it('Settling an expired order posts the money to suspense, and the order stays expired', async () => {
    const order = await finalOrder();
    const payment = await pay(order);
    const input = { orderId: order.id, payment: confirmed(payment) };
    expect(await settlePayment(stack.em(), input, stack.deps)).toBe('EXPIRED');
    await expectSuspended(payment);
  });

  itInFull(
    'Settling a partner’s expired payment posts the money to suspense, and the payment stays expired',
    async () => {
      const mine = await openPartnerPayment();
      await end('partner_payments', mine, 'EXPIRED');
      const payment = await pay(mine);
      const input = { paymentId: mine.id, payment: confirmed(payment) };
      expect(await settlePartnerPayment(stack.em(), settling(), input)).toMatchObject({ status: 'EXPIRED' });
      await expectSuspended(payment);
    },
  );
});

describe('Settlement of a payment whose money already has a receipt', () => {
  /** Writes a state that no activity leaves: an open order whose own money is in suspense. */
  async function plantReceipt({ id: reference }: Instrument, payment: Payment): Promise<string> {
    const receiptId = receiptIdFor(payment.id);
    await stack
      .em()
      .execute("select suspend_receipt(?, ?, ?, ?, ?, 54000, 0, 'late', 'xendit')", [
        newId(),
        receiptId,
        payment.id,
        payment.payment_method.id,
        reference,
      ]);
    return receiptId;
  }
  const giveBack = async (receiptId: string) => {
    // The decision was proposed while the provider was silent; what it reports now changes nothing.
    const evidence = { provider: { says: 'silent' }, books: {} };
    const facts = { kind: 'settle_receipt', receipt_id: receiptId, action: 'refund', evidence };
    const settlement = { decision_id: await plantDecision(stack, await buildOperators(stack), facts) };
    return settleReceipt(stack.em(), stack.deps, { receiptId, settlement });
  };

  it('Settling an order with money that already has a receipt changes nothing', async () => {
    const order = await openOrder();
    const payment = await pay(order);
    const receiptId = await plantReceipt(order, payment);
    const input = { orderId: order.id, payment: confirmed(payment) };
    expect(await settlePayment(stack.em(), input, stack.deps)).toBe('WAITING_PAYMENT');
    expect(await giveBack(receiptId)).toBe('refunded');
    await send(order.id, await pay(order));
    await becomes('payment_orders', order, 'PAID');
  });

  itInFull('Settling a partner’s payment with money that already has a receipt changes nothing', async () => {
    const mine = await openPartnerPayment();
    const payment = await pay(mine);
    const receiptId = await plantReceipt(mine, payment);
    const input = { paymentId: mine.id, payment: confirmed(payment) };
    expect(await settlePartnerPayment(stack.em(), settling(), input)).toMatchObject({
      status: 'WAITING_PAYMENT',
    });
    expect(await giveBack(receiptId)).toBe('refunded');
    await send(mine.id, await pay(mine));
    await becomes('partner_payments', mine, 'PAID');
  });
});
