import { partnerStory } from '../../src/partners/reference-story.ts';
import { westernIndonesiaDay } from '../../src/shared/clock.ts';
import { eventually } from '../support/eventually.ts';
import { type BuiltPartner, buildPartner } from '../support/partner.ts';
import { expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { type Receiver, startReceiver } from './webhooks/receiver.ts';

const { operations, webhooks } = partnerStory;

describe('The example story of the reference', () => {
  let stack: Stack;
  let receiver: Receiver;
  let partner: BuiltPartner;
  beforeAll(async () => {
    stack = await startStack({ worker: true, sandbox: true });
    receiver = await startReceiver();
    receiver.behave((response) => response.writeHead(204).end());
    const limits = { max_payout_amount: '25000000', max_daily_amount: '100000000', max_hourly_count: 1000 };
    const fees = [
      { method: 'virtual_account', fixed: '4000', basis_points: 0 },
      { method: 'qris', fixed: '0', basis_points: 70 },
      { method: 'payout', fixed: '2500', basis_points: 0 },
    ];
    partner = await buildPartner(stack, { settlementDelayHours: 0, fees, limits });
  }, 120_000);
  afterAll(async () => {
    await receiver?.stop();
    await stack?.stop();
  });

  const get = async (path: string) => (await partner.get(path)).body.data;
  const made = async (name: string, path: string) => {
    const { status, body } = await partner.post(path, operations[name]?.body as object);
    expect({ status, body }).toMatchObject({ status: 200 });
    return body.data;
  };
  /** The webhook of this type about a resource, once it has arrived. */
  const told = async (type: string, id: string) => {
    const bodies = await eventually(
      async () => receiver.received.map(({ body }) => JSON.parse(body)).filter(({ data }) => data.id === id),
      (all) => all.some((one) => one.type === type),
    );
    return bodies.find((one) => one.type === type);
  };
  const deliveredTimeline = (path: string, events: number) =>
    eventually(
      () => get(path),
      ({ items }: { items: { text: string }[] }) =>
        items.filter(({ text }) => text.includes('was delivered')).length === events,
    );

  it('The API returns the reference’s example responses and webhooks, apart from random values', async () => {
    const real: Record<string, unknown> = {};
    const { url } = receiver;
    const { data: endpoint } = (
      await partner.send('post', '/webhook-endpoints', { ...(operations.createWebhookEndpoint?.body as object), url })
    ).body;
    real.createWebhookEndpoint = endpoint;
    real.testWebhookEndpoint = (await partner.send('post', `/webhook-endpoints/${endpoint.id}/test`)).body.data;
    real['endpoint.test'] = await told('endpoint.test', endpoint.id);

    real.createQuote = await made('createQuote', '/quotes');
    const payment = await made('createPayment', '/payments');
    real.createPayment = payment;
    await stack.sandbox.post('/sandbox/pay', { payment_code: payment.payment_code });
    real['payment.succeeded'] = await told('payment.succeeded', payment.id);
    real['payment.available'] = await told('payment.available', payment.id);
    real.getPaymentTimeline = await deliveredTimeline(`/payments/${payment.id}/timeline`, 2);
    real.getPayment = await get(`/payments/${payment.id}`);
    real.listPayments = await get(`/payments?external_ref=${payment.external_ref}`);
    real.listWebhookDeliveries = await get('/webhook-deliveries?type=payment.succeeded');

    const payout = await made('createPayout', '/payouts');
    real.createPayout = payout;
    real['payout.succeeded'] = await told('payout.succeeded', payout.id);
    real.getPayoutTimeline = await deliveredTimeline(`/payouts/${payout.id}/timeline`, 1);
    real.getPayout = await get(`/payouts/${payout.id}`);
    real.listPayouts = await get('/payouts?status=succeeded');
    real.getBalance = await get('/balance');
    real.listLimits = await get('/limits');
    real.getSettlement = { ...(await get(`/settlements/${westernIndonesiaDay(new Date())}`)), sealed: true };

    const body = {
      ...(operations.createPayment?.body as object),
      amount: '150000',
      external_ref: 'invoice-2026-0043',
      metadata: undefined,
    };
    const { data: open } = (await partner.post('/payments', body)).body;
    real.cancelPayment = (await partner.send('post', `/payments/${open.id}/cancel`)).body.data;
    real['payment.expired'] = await told('payment.expired', open.id);

    const [hide, hideWritten] = [hideChance(), hideChance()];
    const steps = Object.entries(real).map(([name, answer]) => [name, hide(answer)]);
    const written = Object.keys(real).map((name) => [name, hideWritten(webhooks[name] ?? operations[name]?.answer)]);
    expect(steps).toEqual(written);
    await expectChecksEmpty(stack);
  }, 120_000);
});

/** Replaces what differs between runs. Ids become numbers in order of appearance: equal ids get equal numbers. */
function hideChance() {
  const ids = new Map<string, string>();
  const numbered = (id: string): string => {
    const number = ids.get(id) ?? `id ${ids.size + 1}`;
    ids.set(id, number);
    return number;
  };
  const hidden = new Set(['payment_code', 'value', 'secret', 'url', 'webhook_id', 'journal_id', 'day']);
  const hideText = (text: string): string =>
    text
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, numbered)
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
      .replace(/PO-[0-9A-F]{20}/g, 'PO')
      .replace(/127\.0\.0\.1:\d+/g, 'partner.example');
  const hide = (value: unknown): unknown => {
    if (typeof value === 'string') return hideText(value);
    if (Array.isArray(value)) return sorted(value.map(hide));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, part]) => [key, hidden.has(key) && part !== null ? key : hide(part)]),
    );
  };
  return hide;
}

/** Sorts a list by its text, because timeline items of the same time may come in any order. */
const sorted = (list: unknown[]): unknown[] =>
  list.toSorted((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1));
