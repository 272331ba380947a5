import { balanceOf } from '../support/build.ts';
import { type BuiltPartner, buildPartner } from '../support/partner.ts';
import { eventually, expectChecksEmpty } from '../support/stack.ts';
import { startTimeSkippingStack, type TimeSkippingStack } from '../support/time-skipping.ts';
import { type Receiver, startReceiver } from './receiver.ts';

let stack: TimeSkippingStack;
let receiver: Receiver;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startTimeSkippingStack();
}, 90_000);
afterAll(() => stack.stop());
beforeEach(async () => {
  receiver = await startReceiver();
  partner = await buildPartner(stack, { webhook: { url: receiver.url }, settlementDelayHours: 48 });
});
afterEach(async () => {
  await receiver.stop();
  await expectChecksEmpty(stack);
});

const resultOf = (workflowId: string) => stack.time.client.workflow.getHandle(workflowId).result();
const read = async (id: string) => (await partner.get(`/payments/${id}`)).body.data;
async function create() {
  const answer = await partner.post('/payments', { method: 'virtual_account', channel: 'BCA', amount: '50000' });
  expect(answer.status).toBe(200);
  return answer.body.data;
}

describe('With time', () => {
  it('a payment that nobody pays expires at its deadline, and the webhook says so', async () => {
    const { id } = await create();
    expect(await resultOf(`partner-payment/${id}`)).toBe('EXPIRED');
    expect(await read(id)).toMatchObject({ status: 'expired', is_final: true });
    await eventually(
      async () => receiver.received.map(({ body }) => JSON.parse(body).type),
      (types) => types.includes('payment.expired'),
    );
  });

  it('a paid net leaves pending after the settlement delay', async () => {
    const { id, payment_code } = await create();
    await stack.sandbox.post('/sandbox/pay', { payment_code });
    await eventually(
      () => read(id),
      ({ status }) => status === 'succeeded',
    );
    expect((await partner.get('/balance')).body.data).toMatchObject({ available: '0.0000', pending: '50000.0000' });
    expect(await resultOf(`partner-payment/${id}`)).toBe('PAID');
    expect((await partner.get('/balance')).body.data).toMatchObject({ available: '50000.0000', pending: '0.0000' });
    expect(await balanceOf(stack, partner.account.pending)).toBe('0.0000');
  });

  it('a webhook that is refused for three days is parked, and can be sent again', async () => {
    receiver.behave((response) => void response.writeHead(500).end());
    const { payment_code } = await create();
    await stack.sandbox.post('/sandbox/pay', { payment_code });
    const list = async () => (await partner.administer('get', '/webhook-deliveries')).body.data.items[0];
    const { id } = await eventually(list, (row) => row !== undefined);
    const began = await stack.time.currentTimeMs();
    expect(await resultOf(`webhook-delivery/${id}`)).toBe('parked');
    const passed = (await stack.time.currentTimeMs()) - began;
    expect(passed / 3_600_000).toBeGreaterThan(71);
    expect(passed / 3_600_000).toBeLessThan(74);
    expect(await list()).toMatchObject({
      status: 'parked',
      last_status: 500,
      next_attempt_at: null,
      delivered_at: null,
    });
    const { attempts } = await list();
    expect(receiver.received).toHaveLength(attempts);
    expect(attempts).toBeGreaterThan(8);
    receiver.behave((response) => void response.writeHead(200).end());
    await partner.administer('post', `/webhook-deliveries/${id}/redeliver`);
    await eventually(list, ({ status }) => status === 'delivered');
  });
});
