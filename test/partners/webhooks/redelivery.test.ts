import { boundEndpoints } from '../../../src/partners/webhooks/bound-endpoints.ts';
import { deliverWebhook } from '../../../src/partners/webhooks/deliver-webhook.ts';
import { recordWebhook } from '../../../src/partners/webhooks/record-webhook.ts';
import { createWebhookSender } from '../../../src/partners/webhooks/send-webhook.ts';
import { webhookLifetimeMs } from '../../../src/partners/webhooks/webhook-delivery.ts';
import { newId } from '../../../src/shared/ids.ts';
import { type BuiltPartner, buildPartner } from '../../support/partner.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { type Receiver, startReceiver } from './receiver.ts';

/** The test itself runs the attempts: no worker makes another at the same time. */
let stack: Stack;
let receiver: Receiver;
let partner: BuiltPartner;
let id: string;
beforeAll(async () => {
  stack = await startStack();
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  receiver = await startReceiver();
  partner = await buildPartner(stack, { webhook: { url: receiver.url } });
  const webhook = { partnerId: partner.id, resourceType: 'payout', version: 1, type: 'payout.failed' } as const;
  const one = { ...webhook, resourceId: newId(), at: new Date(), data: {} };
  [id = ''] = await stack.em().transactional((tx) => recordWebhook(tx, stack.deps.sealer, one));
});
afterEach(() => receiver.stop());

const attempt = (number: number, elapsedMs: number, redeliveries?: number) =>
  deliverWebhook(
    stack.em(),
    {
      sealer: stack.deps.sealer,
      send: createWebhookSender({ allowLoopback: true, allowHttp: true }),
      bounds: boundEndpoints(),
    },
    { deliveryId: id, attempt: number, elapsedMs, ...(redeliveries !== undefined && { redeliveries }) },
  );
const lastAttempt = (redeliveries?: number) => attempt(13, webhookLifetimeMs, redeliveries);
const redeliver = () => partner.send('post', `/webhook-deliveries/${id}/redeliver`);
const read = async () => (await partner.get(`/webhook-deliveries/${id}`)).body.data;
/** Requests a redelivery before it answers the next request with this status; answers later ones with 200 at once. */
const answerAfterRedelivery = (status: number) =>
  receiver.behave(async (response) => {
    receiver.behave((later) => void later.writeHead(200).end());
    expect((await redeliver()).status).toBe(200);
    response.writeHead(status).end();
  });

describe('A redelivery requested during an attempt', () => {
  it.each([
    ['the last one, which fails', 500],
    ['one that succeeds', 200],
  ])('A redelivery requested during an attempt (%s) is a separate attempt', async (_, status) => {
    answerAfterRedelivery(status);
    const progress = await lastAttempt();
    expect(progress).toMatchObject({ status: 'pending', waitMs: 0 });
    expect(await read()).toMatchObject({ status: 'pending', attempts: 1, last_status: status });
    expect(await lastAttempt(progress.redeliveries)).toMatchObject({ status: 'delivered' });
    expect(await read()).toMatchObject({ status: 'delivered', attempts: 2, last_status: 200 });
    expect(receiver.received).toHaveLength(2);
  });
});

describe('A redelivery of a pending webhook', () => {
  it('Redelivering a pending webhook restarts its waits even after the last scheduled attempt', async () => {
    receiver.behave((response) => void response.writeHead(500).end());
    const first = await attempt(12, webhookLifetimeMs - 1);
    expect(first).toMatchObject({ status: 'pending' });
    await redeliver();
    const progress = await lastAttempt(first.redeliveries);
    expect(progress).toMatchObject({ status: 'pending', waitMs: 5_000 });
    expect(await lastAttempt(progress.redeliveries)).toMatchObject({ status: 'parked' });
  });
});
