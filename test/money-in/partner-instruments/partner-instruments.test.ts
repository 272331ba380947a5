import { instrumentPaymentIdFor } from '../../../src/shared/ids.ts';
import { readBacklog } from '../../../src/wiring/measure-backlog.ts';
import { setFaults } from '../../money-out/payouts/build-payouts.ts';
import { itInFull } from '../../support/full.ts';
import { loseWorkflow } from '../../support/lose-workflow.ts';
import { type BuiltPartner, buildPartner, freshKey } from '../../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const fees = [
  { method: 'virtual_account', fixed: '4000', basis_points: 0 },
  { method: 'qris', fixed: '0', basis_points: 70 },
];
const ofBank = { method: 'virtual_account', channel: 'BCA' };

async function makeInstrument(partner: BuiltPartner, body: object = ofBank, key?: string) {
  const answer = await partner.post('/instruments', body, key);
  expect(answer).toMatchObject({ status: 200, body: { data: { status: 'active' } } });
  return answer.body.data;
}
const payTo = async (code: string, amount?: number): Promise<string> => {
  const { status, body } = await stack.sandbox.post('/sandbox/pay', {
    payment_code: code,
    ...(amount !== undefined && { amount }),
  });
  expect(status).toBe(200);
  return body.id;
};
const paymentsOf = (partner: BuiltPartner, id: string, count: number) =>
  eventually(
    async () => (await partner.get(`/payments?instrument_id=${id}`)).body.data.items,
    (items) => items.length === count,
  );
const receiptOf = (providerPaymentId: string) =>
  eventually(
    async () =>
      (
        await stack
          .em()
          .execute<{ state: string; reason: string; reference: string }[]>(
            'select state, reason, reference from receipts where provider_payment_id = ?',
            [providerPaymentId],
          )
      )[0],
    (receipt) => receipt !== undefined,
  );

it('An instrument accepts any number of payments and records each one separately', async () => {
  const partner = await buildPartner(stack, { fees });
  const body = { ...ofBank, external_ref: 'customer-1', customer_name: 'Siti Rahayu', metadata: { tier: 'gold' } };
  const key = freshKey();
  const made = await makeInstrument(partner, body, key);
  const { status_url: _, ...instrument } = made;
  expect(instrument).toEqual({
    id: expect.any(String),
    external_ref: 'customer-1',
    status: 'active',
    method: 'virtual_account',
    channel: 'BCA',
    amount: null,
    currency: 'IDR',
    payment_code: expect.stringMatching(/^\d+$/),
    customer_name: 'Siti Rahayu',
    metadata: { tier: 'gold' },
    failure_code: null,
    created_at: expect.any(String),
    closed_at: null,
  });
  expect((await partner.post('/instruments', body, key)).body.data).toEqual(made);
  expect((await partner.get(`/instruments/${made.id}`)).body.data).toEqual(instrument);
  const paid = [await payTo(made.payment_code, 50_000), await payTo(made.payment_code, 75_000)];
  const payments = await paymentsOf(partner, made.id, 2);
  expect(payments.map((payment: { id: string }) => payment.id).sort()).toEqual(paid.map(instrumentPaymentIdFor).sort());
  expect(payments.find((payment: { amount: string }) => payment.amount === '75000.0000')).toMatchObject({
    status: 'succeeded',
    is_final: true,
    fee: '4000.0000',
    net_amount: '71000.0000',
    instrument_id: made.id,
    payment_code: made.payment_code,
    metadata: null,
    expires_at: null,
    next_action: null,
  });
  expect((await partner.get('/balance')).body.data.available).toBe('117000.0000');
  // Another query without new payments creates nothing.
  await stack.deps.workflows.hintPartnerInstrument(made.id);
  await payTo(made.payment_code, 10_000);
  await paymentsOf(partner, made.id, 3);
  expect((await partner.get('/instruments?external_ref=customer-1')).body.data).toMatchObject({ total: 1 });
}, 60_000);

it('With fee mode ADDED, an instrument’s payment is the paid amount, and the fee is deducted from it', async () => {
  const partner = await buildPartner(stack, { fees, feeMode: 'ADDED', settlementDelayHours: 24 });
  const { id, payment_code } = await makeInstrument(partner, { method: 'qris', amount: '100000' });
  await payTo(payment_code);
  const [payment] = await paymentsOf(partner, id, 1);
  expect(payment).toMatchObject({
    amount: '100000.0000',
    fee: '700.0000',
    net_amount: '99300.0000',
    available_at: expect.any(String),
  });
  expect((await partner.get('/balance')).body.data).toMatchObject({ available: '0.0000', pending: '99300.0000' });
}, 60_000);

it('An instrument’s money goes to suspense if its amount is wrong or it arrives after closing', async () => {
  const partner = await buildPartner(stack, { fees });
  const fixed = await makeInstrument(partner, { ...ofBank, amount: '50000' });
  const wrong = await payTo(fixed.payment_code, 49_999);
  expect(await receiptOf(wrong)).toEqual({ state: 'suspended', reason: 'wrong_amount', reference: fixed.id });
  const right = await payTo(fixed.payment_code);
  await paymentsOf(partner, fixed.id, 1);
  expect(await receiptOf(right)).toMatchObject({ state: 'applied', reference: fixed.id });

  const open = await makeInstrument(partner);
  const little = await payTo(open.payment_code, 9_999);
  expect(await receiptOf(little)).toMatchObject({ state: 'suspended', reason: 'wrong_amount' });
  const last = await payTo(open.payment_code, 20_000);
  expect(await partner.send('post', `/instruments/${open.id}/close`)).toMatchObject({
    status: 200,
    body: { data: { status: 'closed', closed_at: expect.any(String) } },
  });
  // Money that arrived before closing is a payment.
  expect(await receiptOf(last)).toMatchObject({ state: 'applied' });
  const late = await payTo(open.payment_code, 20_000);
  expect(await receiptOf(late)).toEqual({ state: 'suspended', reason: 'late', reference: open.id });
  await paymentsOf(partner, open.id, 1);
  expect((await partner.send('post', `/instruments/${open.id}/close`)).body.data.status).toBe('closed');
}, 90_000);

it('A malformed payment to an instrument does not hold up its other payments', async () => {
  const partner = await buildPartner(stack);
  const { id, payment_code } = await makeInstrument(partner, { method: 'qris' });
  await payTo(payment_code, 10_000.123456);
  await payTo(payment_code, 30_000);
  expect(await paymentsOf(partner, id, 1)).toMatchObject([{ amount: '30000.0000' }]);
});

it('Money paid before its instrument was closed is applied even if the provider lists it afterwards', async () => {
  const partner = await buildPartner(stack, { fees });
  const { id, payment_code } = await makeInstrument(partner);
  await setFaults(stack, { listing: { lag_ms: 3_000 } });
  const paid = await payTo(payment_code, 20_000);
  expect((await partner.send('post', `/instruments/${id}/close`)).body.data.status).toBe('closed');
  expect(await receiptOf(paid)).toEqual({ state: 'applied', reason: null, reference: id });
  await setFaults(stack, {});
  await paymentsOf(partner, id, 1);
  expect(await receiptOf(await payTo(payment_code, 20_000))).toMatchObject({ state: 'suspended', reason: 'late' });
}, 60_000);

it('An instrument’s first payment is applied even if it was pending when the instrument was closed', async () => {
  const partner = await buildPartner(stack, { fees });
  const { id, payment_code } = await makeInstrument(partner);
  const asked = { payment_code, amount: 20_000, status: 'PENDING' };
  const { body: pending } = await stack.sandbox.post('/sandbox/pay', asked);
  expect((await partner.send('post', `/instruments/${id}/close`)).body.data.status).toBe('closed');
  await stack.sandbox.post('/sandbox/payments/settle', { payment_id: pending.id, status: 'SUCCEEDED' });
  expect(await receiptOf(pending.id)).toEqual({ state: 'applied', reason: null, reference: id });
  await paymentsOf(partner, id, 1);
}, 60_000);

itInFull(
  'An instrument records more payments than one query returns; wrong amounts and late money go to suspense',
  async () => {
    const partner = await buildPartner(stack, { fees });
    const { id, payment_code } = await makeInstrument(partner);
    await setFaults(stack, { callbacks: { drop: true } });
    for (let count = 0; count < 310; count += 1) await payTo(payment_code, 20_000);
    await setFaults(stack, {});
    const wrong = await payTo(payment_code, 100);
    expect(await receiptOf(wrong)).toMatchObject({ state: 'suspended', reason: 'wrong_amount' });
    await eventually(
      async () => (await partner.get(`/payments?instrument_id=${id}`)).body.data.total,
      (total) => total === 310,
      120_000,
    );
    await eventually(
      () => partner.send('post', `/instruments/${id}/close`),
      ({ body }) => body.data?.status === 'closed',
      60_000,
    );
    expect(await receiptOf(await payTo(payment_code, 20_000))).toMatchObject({ state: 'suspended', reason: 'late' });
  },
  240_000,
);

it('An instrument that no channel accepts returns 400, and another partner’s instrument 404', async () => {
  const partner = await buildPartner(stack, { fees });
  const refusals: [object, string][] = [
    [{ method: 'ewallet', channel: 'DANA' }, 'method'],
    [{ method: 'virtual_account' }, 'channel'],
    [{ method: 'qris', channel: 'BCA' }, 'channel'],
    [{ ...ofBank, channel: 'NOBANK' }, 'channel'],
    [{ ...ofBank, amount: '1' }, 'amount'],
    [{ ...ofBank, amount: '20000.5' }, 'amount'],
    [{ ...ofBank, surplus: 1 }, 'surplus'],
  ];
  const answers = await Promise.all(refusals.map(async ([body]) => (await partner.post('/instruments', body)).body));
  expect(answers.map(({ error }) => [error.code, error.details[0].field])).toEqual(
    refusals.map(([, field]) => ['REQUEST_INVALID_PAYLOAD', field]),
  );
  const { id } = await makeInstrument(partner);
  const other = await buildPartner(stack);
  for (const answer of [await other.get(`/instruments/${id}`), await other.send('post', `/instruments/${id}/close`)]) {
    expect(answer).toMatchObject({ status: 404, body: { error: { code: 'RESOURCE_NOT_FOUND' } } });
  }
});

it('An instrument records payments even if its workflow is lost', async () => {
  const partner = await buildPartner(stack, { fees });
  const { id, payment_code } = await makeInstrument(partner);
  await loseWorkflow(stack.deps.workflows.client, `partner-instrument/${id}`);
  await payTo(payment_code, 30_000);
  await paymentsOf(partner, id, 1);
  await stack.owner().execute('update partner_instruments set seen_until = now() where id = ?', [id]);
  await payTo(payment_code, 40_000);
  await paymentsOf(partner, id, 2);
}, 60_000);

it('An instrument that its workflow has not polled in time counts as waiting', async () => {
  const { id } = await makeInstrument(await buildPartner(stack));
  const oldest = new Date('2026-01-31T08:00:00.000Z');
  // In one transaction, because the workflow and the sweep go on.
  const backlog = await stack.owner().transactional(async (tx) => {
    await tx.execute('update partner_instruments set look_again_at = ? where id = ?', [oldest, id]);
    return readBacklog(tx);
  });
  expect(backlog).toContainEqual(expect.objectContaining({ what: 'overdue_instruments', oldest }));
});
