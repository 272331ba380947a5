import { UniqueConstraintViolationException } from '@mikro-orm/core';
import { findPendingWebhooks, recordWebhook } from '../../../src/partners/webhooks/record-webhook.ts';
import { newId } from '../../../src/shared/ids.ts';
import { casesOf } from '../../support/full.ts';
import { type BuiltPartner, buildPartner } from '../../support/partner.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { type Receiver, startReceiver, verified } from './receiver.ts';

let stack: Stack;
let receiver: Receiver;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  receiver = await startReceiver();
  partner = await buildPartner(stack, { webhook: { url: receiver.url } });
});
afterEach(() => receiver.stop());

const qris = { method: 'qris', amount: '20000' };
async function create(body: object = qris) {
  const answer = await partner.post('/payments', body);
  expect(answer.status).toBe(200);
  return answer.body.data;
}
const settle = async (how: 'pay' | 'decline' | 'expire', body: object = qris) => {
  const payment = await create(body);
  await stack.sandbox.post(`/sandbox/${how}`, { payment_code: payment.payment_code });
  return payment;
};
const arrived = (count: number) =>
  eventually(
    async () => receiver.received,
    (received) => received.length >= count,
  );
const deliveries = async () => (await partner.administer('get', '/webhook-deliveries')).body.data;
const delivery = (isRight: (row: { status: string; attempts: number; last_status: number | null }) => boolean) =>
  eventually(
    async () => (await deliveries()).items[0],
    (row) => row !== undefined && isRight(row),
  );

describe('A webhook', () => {
  const endings = [
    ['pay', qris, 'payment.succeeded', 'succeeded'],
    ['decline', { method: 'ewallet', channel: 'DANA', amount: '20000' }, 'payment.failed', 'failed'],
    ['expire', qris, 'payment.expired', 'expired'],
  ] as const;
  // asked-for.test.ts covers expiry.
  it.each(casesOf(endings, ([how]) => how !== 'expire'))(
    'After the sandbox action %s on %j, %s is sent with the payment as the API returns it',
    async (how, body, type, status) => {
      const { id } = await settle(how, body);
      const [first] = await arrived(1);
      if (first === undefined) throw new Error('nothing arrived');
      const told = verified(partner.webhookSecret, first);
      const read = (await partner.get(`/payments/${id}`)).body.data;
      expect(told).toEqual({ type, timestamp: read.finalized_at, data: { ...read, version: 1 } });
      expect(read.status).toBe(status);
      expect(first.headers['webhook-id']).toMatch(/^msg_/);
      const row = await delivery(({ status }) => status === 'delivered');
      expect(row).toMatchObject({
        webhook_id: first.headers['webhook-id'],
        type,
        attempts: 1,
        last_status: 200,
        next_attempt_at: null,
        delivered_at: expect.any(String),
      });
      expect(row.id).toEqual(expect.any(String));
    },
  );

  it('A webhook answered with 500, 302, 410, 404 or 429 is retried unchanged, with its webhook-id', async () => {
    const codes = [500, 302, 410, 404, 429];
    const attempts = new Map<string, number>();
    receiver.behave((response, { headers }) => {
      const id = String(headers['webhook-id']);
      const code = attempts.has(id) ? 204 : (codes[attempts.size] ?? 204);
      attempts.set(id, (attempts.get(id) ?? 0) + 1);
      response.writeHead(code, { location: '/elsewhere' }).end();
    });
    await Promise.all(codes.map(() => settle('pay')));
    const refused = await eventually(
      async () => (await deliveries()).items,
      (rows) => rows.length === codes.length && rows.every(({ attempts: tried }: { attempts: number }) => tried >= 1),
    );
    for (const row of refused) expect(row.status === 'delivered' || row.next_attempt_at !== null).toBe(true);
    for (const { id } of refused) await stack.deps.workflows.hastenWebhookDelivery(id);
    const received = await arrived(2 * codes.length);
    expect(new Set(received.map(({ path }) => path))).toEqual(new Set(['/hook']));
    for (const id of attempts.keys()) {
      const [first, second] = received.filter(({ headers }) => headers['webhook-id'] === id);
      expect(second?.body).toBe(first?.body);
      if (second) verified(partner.webhookSecret, second);
    }
    await eventually(
      async () => (await deliveries()).items,
      (rows) =>
        rows.every((row: { status: string; attempts: number }) => row.status === 'delivered' && row.attempts === 2),
    );
  }, 60_000);

  it('A webhook whose receiver was down is delivered once the receiver is up again', async () => {
    const { port } = receiver;
    await receiver.stop();
    await settle('pay');
    const row = await delivery(({ attempts }) => attempts === 1);
    expect(row).toMatchObject({ status: 'pending', last_status: null, last_error: 'ECONNREFUSED' });
    receiver = await startReceiver();
    expect(receiver.port).not.toBe(port);
    await partner.administer('put', '/webhook', { url: receiver.url, events: ['payment.succeeded'] });
    await stack.deps.workflows.hastenWebhookDelivery(row.id);
    await arrived(1);
  });

  it('A webhook is signed with both secrets for a day after a rotation', async () => {
    const rotated = (await partner.administer('post', '/webhook/rotate-secret')).body.data.secret;
    await settle('pay');
    const [first] = await arrived(1);
    if (first === undefined) throw new Error('nothing arrived');
    expect(verified(partner.webhookSecret, first)).toEqual(verified(rotated, first));
  });

  it('A webhook of one version cannot be created twice', async () => {
    const [resourceId, em] = [newId(), stack.em()];
    const tell = (version: number) =>
      em.transactional((tx) =>
        recordWebhook(tx, stack.deps.sealer, {
          partnerId: partner.id,
          resourceType: 'payout',
          resourceId,
          version,
          type: 'payout.failed',
          at: new Date(Date.now() + 86_400_000),
          data: {},
        }),
      );
    const first = await tell(1);
    await expect(tell(1)).rejects.toThrow(UniqueConstraintViolationException);
    const second = await tell(2);
    expect(await findPendingWebhooks(stack.em(), { resourceType: 'payout', resourceId })).toEqual([
      ...first,
      ...second,
    ]);
  });

  it('A webhook without a subscriber is not created', async () => {
    await partner.administer('put', '/webhook', { url: receiver.url, events: ['payment.failed'] });
    const { id } = await settle('pay');
    await eventually(
      async () => (await partner.get(`/payments/${id}`)).body.data.status,
      (status) => status === 'succeeded',
    );
    expect(await deliveries()).toMatchObject({ items: [], total: 0 });
  });

  it('A delivered webhook can be redelivered, and another partner’s returns 404', async () => {
    await settle('pay');
    const row = await delivery(({ status }) => status === 'delivered');
    const path = `/webhook-deliveries/${row.id}/redeliver`;
    const other = await buildPartner(stack);
    expect((await other.administer('post', path)).status).toBe(404);
    expect((await partner.administer('post', path)).status).toBe(200);
    const [first, second] = await arrived(2);
    expect(second?.body).toBe(first?.body);
    await delivery(({ status, attempts }) => status === 'delivered' && attempts === 2);
  });

  it('Redelivering a pending webhook restarts its retry schedule, however often', async () => {
    receiver.behave((response) => void response.writeHead(500).end());
    await settle('pay');
    let row = await delivery(({ attempts }) => attempts >= 1);
    for (let again = 1; again <= (isFullRun() ? 6 : 4); again += 1) {
      const before = row.attempts;
      expect((await partner.administer('post', `/webhook-deliveries/${row.id}/redeliver`)).status).toBe(200);
      row = await delivery(({ attempts }) => attempts > before);
    }
    // The wait after a first or second attempt; after the fifth it would be an hour, and longer after each later one.
    expect(row).toMatchObject({ status: 'pending' });
    expect(Date.parse(row.next_attempt_at) - Date.now()).toBeLessThan(10 * 60_000);
  }, 60_000);

  it('A partner can list and redeliver its own webhooks only', async () => {
    const { id } = await settle('pay');
    const row = await delivery(({ status }) => status === 'delivered');
    const list = async (query = '') => (await partner.get(`/webhook-deliveries?limit=1${query}`)).body.data;
    const own = await list();
    expect(own).toMatchObject({ items: [row], page: 1, limit: 1 });
    expect(own.items[0]).toMatchObject({ resource_id: id, type: 'payment.succeeded' });
    expect((await list('&status=delivered&type=payment.succeeded')).items).toEqual([row]);
    const day = new Date(Date.parse(row.created_at) + 7 * 3_600_000).toISOString().slice(0, 10);
    expect((await list(`&from=${day}&to=${day}`)).items).toEqual([row]);
    for (const query of ['&status=parked', '&type=payout.failed', '&to=2020-01-01', `&from=2999-01-01`]) {
      expect((await list(query)).items).toEqual([]);
    }
    const elsewhere = await startReceiver();
    const other = await buildPartner(stack, { webhook: { url: elsewhere.url } });
    expect((await other.get('/webhook-deliveries')).body.data).toMatchObject({ items: [], total: 0 });
    const path = `/webhook-deliveries/${row.id}/redeliver`;
    const foreign = await other.post(path, {}, null);
    const missing = await other.post(`/webhook-deliveries/${other.id}/redeliver`, {}, null);
    expect([foreign.status, foreign.body.error]).toEqual([404, missing.body.error]);
    // This delivery is newer than the partner's own, which would follow it in the list.
    const [foreignId] = await stack.em().transactional((tx) =>
      recordWebhook(tx, stack.deps.sealer, {
        partnerId: other.id,
        resourceType: 'payout',
        resourceId: newId(),
        version: 1,
        type: 'payout.failed',
        at: new Date(),
        data: {},
      }),
    );
    expect((await partner.get(`/webhook-deliveries?after=${foreignId}`)).body.error).toMatchObject({
      code: 'REQUEST_INVALID_PAYLOAD',
      message: 'after: matches no row of this list; use a value of next',
    });
    await elsewhere.stop();
    const reader = await buildPartner(stack, { permissions: ['read-gateway'] });
    expect((await reader.post(path, {}, null)).body.error.code).toBe('AUTH_PERMISSION_DENIED');
    expect((await partner.post(path, {}, null)).body.data).toMatchObject({ id: row.id, status: 'pending' });
    const [first, second] = await arrived(2);
    expect(second?.body).toBe(first?.body);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  });

  it('A webhook whose workflow was lost is delivered by the sweep', async () => {
    receiver.behave((response) => void response.writeHead(500).end());
    await settle('pay');
    const row = await delivery(({ attempts }) => attempts === 1);
    const { client, taskQueue } = stack.deps.workflows;
    await client.workflow.getHandle(`webhook-delivery/${row.id}`).terminate();
    await stack
      .owner()
      .execute("update webhook_deliveries set next_attempt_at = now() - interval '2 minutes' where id = ?", [row.id]);
    receiver.behave((response) => void response.writeHead(200).end());
    await client.workflow.execute('sweep', { taskQueue, workflowId: `sweep-${row.id}`, args: [] });
    await delivery(({ status }) => status === 'delivered');
  });
});
