import { startReceiver } from '../../partners/webhooks/receiver.ts';
import { type BuiltPartner, buildPartner } from '../../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  partner = await buildPartner(stack);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
afterEach(() => stack.sandbox.put('/sandbox/faults', {}));

interface Timeline {
  items: { at: string; type: string; text: string }[];
  next: { at: string; text: string } | null;
}
const timelineOf = async (id: string): Promise<Timeline> => (await partner.get(`/payments/${id}/timeline`)).body.data;
const textsOf = async (id: string) => (await timelineOf(id)).items.map(({ text }) => text);
const create = async () => {
  const { status, body } = await partner.post('/payments', {
    method: 'virtual_account',
    channel: 'BCA',
    amount: '50000',
  });
  expect(status).toBe(200);
  return body.data as { id: string; payment_code: string };
};
const payBesides = async ({ id, payment_code }: { id: string; payment_code: string }): Promise<void> => {
  await stack.sandbox.post('/sandbox/pay', { payment_code, amount: 49_000 });
  await eventually(
    () => stack.em().execute("select 1 from receipts where reference = ? and state <> 'applied'", [id]),
    (found) => found.length === 1,
  );
};

describe('The timeline of a payment', () => {
  it('A payment’s timeline does not claim that nobody paid if a wrong amount arrived in time', async () => {
    const payment = await create();
    await payBesides(payment);
    await stack.sandbox.post('/sandbox/expire', { payment_code: payment.payment_code });
    await eventually(
      async () => (await partner.get(`/payments/${payment.id}`)).body.data,
      ({ status }) => status === 'expired',
    );
    const texts = await textsOf(payment.id);
    expect(texts).toContain(
      'The payment expired early: the provider closed it before its deadline, and its amount was not paid.',
    );
    expect(JSON.stringify(texts)).not.toContain('before its deadline.');
    expect(JSON.stringify(texts)).not.toContain('nobody paid');
  });

  it('A payment’s timeline shows a webhook endpoint’s host and port only, and neither once deleted', async () => {
    const receivers = await Promise.all([startReceiver(), startReceiver()]);
    const ids: string[] = [];
    for (const { url } of receivers) {
      const body = { url: `${url}?token=hidden`, events: ['payment.succeeded'] };
      ids.push((await partner.send('post', '/webhook-endpoints', body)).body.data.id);
    }
    const { id, payment_code } = await create();
    await stack.sandbox.post('/sandbox/pay', { payment_code });
    const toldTexts = async () => (await timelineOf(id)).items.filter(({ type }) => type === 'webhook');
    const told = await eventually(toldTexts, (all) => all.filter(({ text }) => /delivered/.test(text)).length === 2);
    expect(told.map(({ text }) => text).toSorted()).toEqual(
      receivers
        .map(({ port }) => `The webhook payment.succeeded was delivered to 127.0.0.1:${port}, at attempt 1.`)
        .toSorted(),
    );
    for (const endpoint of ids) await partner.send('delete', `/webhook-endpoints/${endpoint}`);
    const deleted = 'The webhook payment.succeeded was delivered to an endpoint that was deleted, at attempt 1.';
    expect((await toldTexts()).map(({ text }) => text)).toEqual([deleted, deleted]);
    await Promise.all(receivers.map((receiver) => receiver.stop()));
  });

  it('With fee mode ADDED, a payment’s timeline shows the requested amount and the fee on top', async () => {
    const fees = [{ method: 'virtual_account', fixed: '4000', basis_points: 0 }];
    const adding = await buildPartner(stack, { feeMode: 'ADDED', fees });
    const { data } = (await adding.post('/payments', { method: 'virtual_account', channel: 'BCA', amount: '50000' }))
      .body;
    await stack.sandbox.post('/sandbox/pay', { payment_code: data.payment_code });
    await eventually(
      async () => (await adding.get(`/payments/${data.id}`)).body.data,
      ({ status }) => status === 'succeeded',
    );
    const { items } = (await adding.get(`/payments/${data.id}/timeline`)).body.data as Timeline;
    expect(items.map(({ text }) => text)).toEqual(
      expect.arrayContaining([
        'A payment of IDR 50000.0000 was requested; with the fee of IDR 4000.0000, the customer pays IDR 54000.0000.',
        'IDR 50000.0000 was credited to your pending balance; the customer also paid the fee of IDR 4000.0000.',
      ]),
    );
  });

  it('A payment’s timeline shows that the provider reports it as paid but does not list it', async () => {
    await stack.sandbox.put('/sandbox/faults', { listing: { lag_ms: 86_400_000 } });
    const { id, payment_code } = await create();
    await stack.sandbox.post('/sandbox/pay', { payment_code });
    await eventually(
      () => timelineOf(id),
      ({ next }) => next?.text.includes('as paid or pending') === true,
    );
    const before = Date.now();
    const { items, next } = await timelineOf(id);
    expect(items).toContainEqual({
      at: expect.any(String),
      type: 'provider',
      text: 'The provider reports this as paid or pending, but lists no payment that can be settled yet.',
    });
    const at = Date.parse(next?.at ?? '');
    expect(at).toBeGreaterThan(before);
    expect(at).toBeLessThan(Date.now() + 30_001);
    await stack.sandbox.put('/sandbox/faults', {});
    await stack.deps.workflows.hintPartnerPayment(id);
    await eventually(
      async () => (await partner.get(`/payments/${id}`)).body.data,
      ({ status }) => status === 'succeeded',
      30_000,
    );
    // Items stay once shown, with their times.
    const after = (await timelineOf(id)).items;
    for (const item of items.filter(({ type }) => type === 'provider')) expect(after).toContainEqual(item);
    expect(after.map(({ text }) => text)).toContain('The provider was asked for a payment code.');
  }, 60_000);
});
