import type { ServerResponse } from 'node:http';
import { recordWebhook } from '../../../src/partners/webhooks/record-webhook.ts';
import { newId } from '../../../src/shared/ids.ts';
import { itInFull } from '../../support/full.ts';
import { type BuiltPartner, buildPartner } from '../../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { type Receiver, startReceiver } from './receiver.ts';

/** More webhooks than a worker sends concurrently. */
const many = 120;

let stack: Stack;
let hanging: Receiver;
let answering: Receiver;
let patient: BuiltPartner;
let other: BuiltPartner;
const open = new Set<ServerResponse>();
let first: ServerResponse[];
let mostOpen = 0;

beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  [hanging, answering] = await Promise.all([startReceiver(), startReceiver()]);
  hanging.behave((response) => {
    open.add(response);
    mostOpen = Math.max(mostOpen, open.size);
    response.once('close', () => open.delete(response));
  });
  patient = await buildPartner(stack, { webhook: { url: hanging.url } });
  other = await buildPartner(stack, { webhook: { url: answering.url } });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(async () => {
  await hanging.stop();
  await answering.stop();
  await stack.stop();
});

const states = () =>
  stack
    .em()
    .execute<{ id: string; status: string; attempts: number }[]>(
      'select id, status, attempts from webhook_deliveries where partner_id = ?',
      [patient.id],
    );

describe('An endpoint that never answers', () => {
  it('An endpoint that never answers blocks at most ten requests and delays no others', async () => {
    const { body: paying } = await other.post('/payments', { method: 'qris', amount: '20000' });
    const em = stack.em();
    const ids = await em.transactional((tx) =>
      Promise.all(
        Array.from({ length: many }, () =>
          recordWebhook(tx, stack.deps.sealer, {
            partnerId: patient.id,
            resourceType: 'payout',
            resourceId: newId(),
            version: 1,
            type: 'payout.failed',
            at: new Date(),
            data: {},
          }),
        ),
      ),
    );
    await Promise.all(ids.flat().map((id) => stack.deps.workflows.startWebhookDelivery(id)));
    await eventually(
      async () => open.size,
      (size) => size === 10,
    );
    first = [...open];
    await stack.sandbox.post('/sandbox/pay', { payment_code: paying.data.payment_code });
    await eventually(
      async () => answering.received,
      (received) => received.length === 1,
    );
    // Meanwhile most webhooks of the hanging endpoint have not been sent.
    const unsent = (await states()).filter(({ status, attempts }) => status === 'pending' && attempts === 0);
    expect(unsent.length).toBeGreaterThan(many / 2);
    expect(mostOpen).toBe(10);
  }, 60_000);

  // sending.test.ts covers the time-out itself.
  itInFull(
    'An endpoint that never answers gets one request at a time once one has timed out',
    async () => {
      await eventually(
        async () => first.filter((response) => open.has(response)).length,
        (size) => size === 0,
        30_000,
      );
      mostOpen = open.size;
      const tried = async () => (await states()).filter(({ attempts }) => attempts > 0).length;
      const before = await tried();
      await eventually(tried, (now) => now > before, 60_000);
      expect(mostOpen).toBe(1);
    },
    120_000,
  );

  it('An endpoint that answers again gets waiting webhooks, whose wait counted as no attempt', async () => {
    hanging.behave((response) => void response.writeHead(200).end());
    for (const response of open) response.destroy();
    const isSent = ({ id }: { id: string }) =>
      hanging.received.some(({ headers }) => headers['webhook-id'] === `msg_${id.replaceAll('-', '')}`);
    const waiting = (await states()).find((row) => row.status === 'pending' && row.attempts === 0 && !isSent(row));
    if (waiting === undefined) throw new Error('no webhook has waited');
    await stack.deps.workflows.hastenWebhookDelivery(waiting.id);
    const mine = async () => (await states()).find(({ id }) => id === waiting.id);
    expect(await eventually(mine, (row) => row?.status === 'delivered')).toMatchObject({ attempts: 1 });
  }, 60_000);
});
