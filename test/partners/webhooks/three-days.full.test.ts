import { itInFull } from '../../support/full.ts';
import { type BuiltPartner, buildPartner } from '../../support/partner.ts';
import { eventually, expectChecksEmpty } from '../../support/stack.ts';
import { startTimeSkippingStack, type TimeSkippingStack } from '../../support/time-skipping.ts';
import { type Receiver, startReceiver } from './receiver.ts';

/** Each test starts its own stack: after skipping time to a result, a shared clock may be years ahead. */
let stack: TimeSkippingStack;
let receiver: Receiver;
let partner: BuiltPartner;
beforeEach(async () => {
  stack = await startTimeSkippingStack();
  receiver = await startReceiver();
  partner = await buildPartner(stack, { webhook: { url: receiver.url }, settlementDelayHours: 48 });
}, 90_000);
afterEach(async () => {
  await expectChecksEmpty(stack);
  await receiver.stop();
  await stack.stop();
});

const resultOf = (workflowId: string) => stack.time.client.workflow.getHandle(workflowId).result();
async function create() {
  const answer = await partner.post('/payments', { method: 'virtual_account', channel: 'BCA', amount: '50000' });
  expect(answer.status).toBe(200);
  return answer.body.data;
}

describe('Webhooks under time skipping', () => {
  itInFull(
    'An unpaid payment expires at its deadline, and the webhook reports it',
    async () => {
      const { id } = await create();
      expect(await resultOf(`partner-payment/${id}`)).toBe('EXPIRED');
      expect((await partner.get(`/payments/${id}`)).body.data).toMatchObject({ status: 'expired', is_final: true });
      await eventually(
        async () => receiver.received.map(({ body }) => JSON.parse(body).type),
        (types) => types.includes('payment.expired'),
      );
    },
    60_000,
  );

  itInFull(
    'A payment’s net amount becomes available after its delay, and subscribers are notified',
    async () => {
      await partner.send('post', '/webhook-endpoints', { url: receiver.url, events: ['payment.available'] });
      const { id, payment_code } = await create();
      await stack.sandbox.post('/sandbox/pay', { payment_code });
      const began = await stack.time.currentTimeMs();
      expect(await resultOf(`partner-payment/${id}`)).toBe('PAID');
      expect(((await stack.time.currentTimeMs()) - began) / 3_600_000).toBeGreaterThan(47);
      const told = await eventually(
        async () => receiver.received.map(({ body }) => JSON.parse(body)),
        (all) => all.length === 2,
      );
      expect(told.map(({ type, data }) => [type, data.version, data.id])).toEqual([
        ['payment.succeeded', 1, id],
        ['payment.available', 2, id],
      ]);
    },
    60_000,
  );

  itInFull(
    'A payment’s net amount becomes available after its delay even if the provider is down',
    async () => {
      const quick = await buildPartner(stack, { settlementDelayHours: 2 });
      const balance = async () => (await quick.get('/balance')).body.data;
      const { id, payment_code } = (
        await quick.post('/payments', { method: 'virtual_account', channel: 'BCA', amount: '50000' })
      ).body.data;
      await stack.sandbox.post('/sandbox/pay', { payment_code });
      await eventually(balance, ({ pending }) => pending === '50000.0000');
      const workflow = stack.time.client.workflow.getHandle(`partner-payment/${id}`);
      const asksInVain = async () =>
        (await workflow.describe()).raw.pendingActivities?.some(
          ({ activityType, attempt }) => activityType?.name === 'confirmPartnerPayment' && Number(attempt) > 1,
        );
      await stack.sandbox.put('/sandbox/faults', { requests: { error_rate: 1 } });
      await workflow.signal('callbackArrived');
      await eventually(asksInVain, (isSo) => isSo === true);
      await stack.time.sleep('3 hours');
      await eventually(balance, ({ available, pending }) => available === '50000.0000' && pending === '0.0000');
      // The workflow keeps querying for further payments, and completes once the provider answers.
      expect(await asksInVain()).toBe(true);
      await stack.sandbox.put('/sandbox/faults', {});
      expect(await resultOf(`partner-payment/${id}`)).toBe('PAID');
    },
    90_000,
  );

  it('A webhook refused for three days is parked and can be redelivered', async () => {
    receiver.behave((response) => void response.writeHead(500).end());
    const { payment_code } = await create();
    await stack.sandbox.post('/sandbox/pay', { payment_code });
    const list = async () => (await partner.administer('get', '/webhook-deliveries')).body.data.items[0];
    const { id } = await eventually(list, (row) => row?.attempts === 1);
    expect((await partner.get('/balance')).body.data).toMatchObject({ available: '0.0000', pending: '50000.0000' });

    const began = await stack.time.currentTimeMs();
    expect(await resultOf(`webhook-delivery/${id}`)).toBe('parked');
    expect(((await stack.time.currentTimeMs()) - began) / 3_600_000).toBeGreaterThan(71);
    const parked = await list();
    expect(parked).toMatchObject({ status: 'parked', last_status: 500, next_attempt_at: null, delivered_at: null });
    expect(receiver.received).toHaveLength(parked.attempts);
    expect(parked.attempts).toBe(14);
    await eventually(
      async () => (await partner.get('/balance')).body.data,
      ({ available, pending }) => available === '50000.0000' && pending === '0.0000',
    );

    receiver.behave((response) => void response.writeHead(200).end());
    await partner.administer('post', `/webhook-deliveries/${id}/redeliver`);
    await eventually(list, ({ status }) => status === 'delivered');
  }, 60_000);

  itInFull(
    'A webhook redelivered on its second day is retried for three days from then',
    async () => {
      receiver.behave((response) => void response.writeHead(500).end());
      const { payment_code } = await create();
      await stack.sandbox.post('/sandbox/pay', { payment_code });
      const list = async () => (await partner.administer('get', '/webhook-deliveries')).body.data.items[0];
      const { id } = await eventually(list, (row) => row?.attempts === 1);
      const began = await stack.time.currentTimeMs();
      await stack.time.sleep('40 hours');
      const { attempts } = await eventually(list, (row) => row.attempts >= 9);
      await partner.administer('post', `/webhook-deliveries/${id}/redeliver`);
      await eventually(list, (row) => row.attempts > attempts);
      expect(await resultOf(`webhook-delivery/${id}`)).toBe('parked');
      expect(((await stack.time.currentTimeMs()) - began) / 3_600_000).toBeGreaterThan(40 + 71);
    },
    60_000,
  );
});
