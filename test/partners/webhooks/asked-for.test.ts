import { releasePartnerPayment } from '../../../src/money-in/collections/settle-partner-payment.ts';
import { resolvePayout } from '../../../src/money-out/payouts/resolve-payout.ts';
import { outcomeEvents, webhookEvents } from '../../../src/partners/partner.ts';
import { ageAttempts, buildPayer, buildUnknownPayout } from '../../money-out/payouts/build-payouts.ts';
import { buildOperators, decide } from '../../support/decide.ts';
import { type BuiltPartner, buildPartner, type PartnerOptions } from '../../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { type Receiver, startReceiver, verified } from './receiver.ts';

let stack: Stack;
let asking: Receiver;
let other: Receiver;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  [asking, other] = await Promise.all([startReceiver(), startReceiver()]);
});
afterEach(() => Promise.all([asking.stop(), other.stop()]));

interface Told {
  type: string;
  timestamp: string;
  data: Record<string, unknown>;
}
type Build = (place: Stack, options: PartnerOptions) => Promise<BuiltPartner>;
/** A partner with one endpoint for all events, and another for final statuses only. */
async function buildAsking(build: Build = buildPartner, options: PartnerOptions = {}) {
  const partner = await build(stack, { ...options, webhook: { url: other.url, events: [...outcomeEvents] } });
  const made = await partner.send('post', '/webhook-endpoints', { url: asking.url, events: webhookEvents });
  const { secret } = made.body.data;
  const toldAll = (): Told[] =>
    asking.received
      .map((one) => verified(secret, one) as Told)
      .toSorted((left, right) => Number(left.data.version) - Number(right.data.version));
  const told = (count: number): Promise<Told[]> =>
    eventually(
      async () => toldAll(),
      (all) => all.length >= count,
    );
  return { partner, told };
}
const typesAtOther = () => other.received.map(({ body }) => JSON.parse(body).type);
const create = async (partner: BuiltPartner) =>
  (await partner.post('/payments', { method: 'virtual_account', channel: 'BCA', amount: '20000' })).body.data;
const act = (how: 'pay' | 'expire', payment: { payment_code: string }, amount?: number) =>
  stack.sandbox.post(`/sandbox/${how}`, { payment_code: payment.payment_code, ...(amount && { amount }) });
const read = async (partner: BuiltPartner, { id }: { id: string }) => (await partner.get(`/payments/${id}`)).body.data;
const paymentWhen = (partner: BuiltPartner, payment: { id: string }, status: string) =>
  eventually(
    () => read(partner, payment),
    (now) => now.status === status,
  );
const versionsOf = (all: Told[]) => all.map(({ type, data }) => [type, data.version]);

describe('payment.available', () => {
  it('Without a settlement delay, subscribers get payment.available right after payment.succeeded', async () => {
    const { partner, told } = await buildAsking();
    const payment = await create(partner);
    await act('pay', payment);
    const all = await told(2);
    expect(versionsOf(all)).toEqual([
      ['payment.succeeded', 1],
      ['payment.available', 2],
    ]);
    const shown = await read(partner, payment);
    expect(all[1]).toEqual({
      type: 'payment.available',
      timestamp: expect.any(String),
      data: { ...shown, version: 2 },
    });
    await eventually(
      async () => typesAtOther(),
      (types) => types.length === 1,
    );
    expect(typesAtOther()).toEqual(['payment.succeeded']);
  });

  it('payment.available is sent once after the delay, however often the activity runs', async () => {
    const { partner, told } = await buildAsking(buildPartner, { settlementDelayHours: 24 });
    const payment = await create(partner);
    await act('pay', payment);
    await told(1);
    const release = () =>
      releasePartnerPayment(stack.em(), stack.deps.sealer, { paymentId: payment.id }, { skipsTime: true });
    const [first, second] = await Promise.all([release(), release()]);
    expect(first.deliveryIds).toHaveLength(1);
    expect(second.deliveryIds).toEqual(first.deliveryIds);
    await stack.deps.workflows.startWebhookDelivery(String(first.deliveryIds?.[0]));
    expect(versionsOf(await told(2))).toEqual([
      ['payment.succeeded', 1],
      ['payment.available', 2],
    ]);
    expect((await partner.get('/balance')).body.data).toMatchObject({ available: '20000.0000', pending: '0.0000' });
  });

  it('payment.available uses no version if no endpoint subscribes to it', async () => {
    const partner = await buildPartner(stack, { webhook: { url: other.url } });
    const payment = await create(partner);
    await act('pay', payment);
    await paymentWhen(partner, payment, 'succeeded');
    const [row] = await stack
      .em()
      .execute<{ version: number }[]>('select version from partner_payments where id = ?', [payment.id]);
    expect(row).toEqual({ version: 1 });
  });
});

describe('payment.unmatched', () => {
  it('payment.unmatched reports a double payment and does not change the payment', async () => {
    const { partner, told } = await buildAsking();
    const payment = await create(partner);
    await act('pay', payment);
    await told(2);
    const shown = await read(partner, payment);
    await act('pay', payment);
    const all = await told(3);
    expect(all[2]).toEqual({
      type: 'payment.unmatched',
      timestamp: expect.any(String),
      data: { ...shown, version: 3, unmatched: { amount: '20000.0000', reason: 'double' } },
    });
    expect(await read(partner, payment)).toEqual(shown);
    await eventually(
      async () => typesAtOther(),
      (types) => types.length === 1,
    );
    expect(typesAtOther()).toEqual(['payment.succeeded']);
  });

  it('payment.unmatched reports money of the wrong amount, and money that arrives too late', async () => {
    const { partner, told } = await buildAsking();
    const payment = await create(partner);
    await act('pay', payment, 19_000);
    expect(await told(1)).toMatchObject([
      { type: 'payment.unmatched', data: { version: 1, status: 'pending', unmatched: { amount: '19000.0000' } } },
    ]);
    await act('expire', payment);
    await paymentWhen(partner, payment, 'expired');
    await act('pay', payment);
    const all = await told(3);
    expect(versionsOf(all)).toEqual([
      ['payment.unmatched', 1],
      ['payment.expired', 2],
      ['payment.unmatched', 3],
    ]);
    expect(all.map(({ data }) => (data.unmatched as { reason: string } | undefined)?.reason)).toEqual([
      'wrong_amount',
      undefined,
      'late',
    ]);
  });
});

it('instrument.unmatched reports the amount and reason of money an instrument does not accept', async () => {
  const { partner, told } = await buildAsking();
  const body = { method: 'virtual_account', channel: 'BCA', amount: '50000', customer_name: 'Siti Rahayu' };
  const { status_url: _, ...instrument } = (await partner.post('/instruments', body)).body.data;
  await act('pay', instrument, 49_999);
  const [wrong] = await told(1);
  expect(wrong).toMatchObject({
    type: 'instrument.unmatched',
    data: { ...instrument, version: 1, unmatched: { amount: '49999.0000', reason: 'wrong_amount' } },
  });
  expect((await partner.send('post', `/instruments/${instrument.id}/close`)).status).toBe(200);
  await act('pay', instrument, 50_000);
  const [, late] = await told(2);
  expect(late?.data).toMatchObject({
    status: 'closed',
    version: 2,
    unmatched: { amount: '50000.0000', reason: 'late' },
  });
  expect(typesAtOther()).toEqual([]);
}, 60_000);

describe('payout.delayed', () => {
  it('payout.delayed is sent once if the outcome has been unknown for ten minutes', async () => {
    const { partner, told } = await buildAsking(buildPayer);
    const id = await buildUnknownPayout(stack, partner);
    const resolve = () => resolvePayout(stack.em(), stack.deps, { payoutId: id });
    expect((await resolve()).deliveryIds).toEqual([]);
    await stack
      .owner()
      .execute("update payouts set unknown_since = unknown_since - interval '10 minutes' where id = ?", [id]);
    await stack.deps.workflows.hintPayout({ id, kind: 'partner_payout' });
    const [delayed] = await told(1);
    const shown = (await partner.get(`/payouts/${id}`)).body.data;
    expect(shown).toMatchObject({ status: 'pending', is_final: false });
    expect(delayed).toEqual({
      type: 'payout.delayed',
      timestamp: expect.any(String),
      data: { ...shown, version: 1 },
    });
    expect((await Promise.all([resolve(), resolve()])).flatMap(({ deliveryIds }) => deliveryIds)).toEqual([]);
    await ageAttempts(stack, id, 2);
    await decide(stack, await buildOperators(stack), { kind: 'settle_payout', payout_id: id, outcome: 'failed' });
    expect(versionsOf(await told(2))).toEqual([
      ['payout.delayed', 1],
      ['payout.failed', 2],
    ]);
    await eventually(
      async () => typesAtOther(),
      (types) => types.length === 1,
    );
    expect(typesAtOther()).toEqual(['payout.failed']);
  });
});
