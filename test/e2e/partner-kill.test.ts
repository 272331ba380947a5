import { createHmac } from 'node:crypto';
import { type Receiver, startReceiver, verified } from '../partners/webhooks/receiver.ts';
import { casesOf } from '../support/full.ts';
import { type BuiltPartner, buildPartner } from '../support/partner.ts';
import { type ProcessStack, startProcessStack } from '../support/processes.ts';
import { isFullRun } from '../support/run.ts';
import { eventually, expectChecksEmpty } from '../support/stack.ts';

let stack: ProcessStack;
let partner: BuiltPartner;
let receiver: Receiver;
beforeAll(async () => {
  stack = await startProcessStack();
  receiver = await startReceiver();
  partner = await buildPartner(stack, { webhook: { url: receiver.url } });
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(async () => {
  await receiver.stop();
  await stack.stop();
});
afterEach(() => stack.restart());

const raw = JSON.stringify({ method: 'virtual_account', channel: 'BNI', amount: '50000' });

/** Sends the request once; returns null if there is no answer. */
async function create(key: string): Promise<{ status: number; text: string } | null> {
  try {
    const answer = await fetch(`${stack.url}/v1/partners/payments`, {
      method: 'POST',
      body: raw,
      headers: {
        authorization: `Bearer ${partner.apiKey}`,
        'content-type': 'application/json',
        'x-partner-signature': createHmac('sha256', partner.signingSecret).update(raw).digest('hex'),
        'x-idempotency-key': key,
      },
    });
    return { status: answer.status, text: await answer.text() };
  } catch {
    return null;
  }
}

/** Retries under the key until it gets a 200. */
const insist = (key: string) =>
  eventually(
    () => create(key),
    (answer) => answer?.status === 200,
    60_000,
  );

/** Where a process dies: after the journal, row, provider's answer (see payments/first-attempt) or webhook. */
const failpoints = casesOf([
  'settle-partner-payment.after',
  'open-partner-payment.after',
  'request-partner-instrument.after',
  'deliver-webhook.after',
]);

describe('Partners’ payments whose processes are killed with SIGKILL', () => {
  it.each(failpoints)(
    'Concurrent requests with one key create one payment even if API and worker are killed at %s',
    async (failpoint) => {
      const key = `kill-${failpoint}-${Date.now()}`;
      stack.arm(`${failpoint}=kill`);
      const dying = (async () => {
        await Promise.race([stack.api.exited, stack.worker.exited]);
        await Promise.all((['api', 'worker'] as const).map((which) => stack.kill(which)));
        await stack.restart();
      })();
      const twins = isFullRun() ? 1000 : 5;
      const answers = await Promise.all(Array.from({ length: twins }, () => insist(key)));
      expect(new Set(answers.map((answer) => answer?.text)).size).toBe(1);
      const { id, payment_code } = JSON.parse(answers[0]?.text ?? '{}').data;
      await stack.sandbox.post('/sandbox/pay', { payment_code });
      await eventually(
        async () => (await partner.get(`/payments/${id}`).catch(() => null))?.body.data?.status,
        (status) => status === 'succeeded',
        60_000,
      );
      await dying;
      const arrived = await eventually(
        async () => receiver.received.filter(({ body }) => body.includes(id)),
        (received) => received.length > 0,
        // A repeated activity starts the delivery again; the sweep of unsent webhooks would take more than a minute.
        60_000,
      );
      for (const webhook of arrived) verified(partner.webhookSecret, webhook);
      expect(new Set(arrived.map(({ body }) => body)).size).toBe(1);
      const { body } = await stack.sandbox.get(`/sandbox/records?reference_id=${id}`);
      expect(body.payments).toHaveLength(1);
    },
    180_000,
  );
});
