import {
  createPartnerClient,
  type PartnerClient,
  type PartnerClientOptions,
  verifyWebhook,
  type Webhook,
} from '../../sdk/index.ts';
import { generous } from '../payouts/build-payouts.ts';
import { openReceiver } from '../sandbox/receiver.ts';
import { fund } from '../support/build.ts';
import { type BuiltPartner, buildPartner, freshKey } from '../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
let built: BuiltPartner;
let receiver: Awaited<ReturnType<typeof openReceiver>>;
let client: PartnerClient;

const connect = (options: Partial<PartnerClientOptions> = {}) =>
  createPartnerClient({ baseUrl: stack.url, apiKey: built.apiKey, signingSecret: built.signingSecret, ...options });

beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  receiver = await openReceiver();
  built = await buildPartner(stack, { limits: generous, webhook: { url: receiver.url } });
  await fund(stack, built.account.available, '1000000');
  client = connect();
}, 90_000);
afterAll(async () => {
  await receiver.close();
  await stack.stop();
});
afterEach(() => expectChecksEmpty(stack));

const payout = { amount: '20000', bank_code: 'BCA', bank_account_number: '1234567890' };

/** Each first answer is lost on its way: what was asked for has happened. */
function losingFirstAnswers(): { fetch: typeof fetch; calls: Request[] } {
  const calls: Request[] = [];
  return {
    calls,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const seen = calls.some(({ url, method }) => url === request.url && method === request.method);
      calls.push(request.clone());
      const answer = await fetch(request);
      if (!seen) throw new TypeError('fetch failed');
      return answer;
    },
  };
}

async function webhookAbout(id: string): Promise<{ webhook: Webhook; headers: Record<string, string>; text: string }> {
  const [got] = await eventually(
    async () => receiver.received.filter(({ text }) => text.includes(id)),
    (found) => found.length > 0,
  );
  if (got === undefined) throw new Error('no webhook');
  const headers = Object.fromEntries(Object.entries(got.headers).map(([name, value]) => [name, String(value)]));
  return { webhook: verifyWebhook(built.webhookSecret, headers, got.text).webhook, headers, text: got.text };
}

describe('The partner client', () => {
  it('collects: quotes, makes a payment, and believes the webhook that says it is paid', async () => {
    const quote = await client.payments.quote({ method: 'qris', amount: '50000' });
    expect(quote.gross_amount).toBe('50000.0000');
    const payment = await client.payments.create({ method: 'qris', amount: '50000', external_ref: 'invoice-1' });
    expect(payment).toMatchObject({ status: 'pending', is_final: false, amount: '50000.0000', reference: 'invoice-1' });
    await stack.sandbox.post('/sandbox/pay', { payment_code: payment.payment_code });
    const { webhook } = await webhookAbout(payment.id);
    expect(webhook).toMatchObject({ type: 'payment.succeeded', data: { id: payment.id, net_amount: '50000.0000' } });
    expect(await client.payments.get(payment.id)).toMatchObject({ status: 'succeeded', is_final: true });
    expect((await client.payments.timeline(payment.id)).items.length).toBeGreaterThan(2);
  });

  it('refuses a webhook that is altered, unsigned, old or signed by somebody else', async () => {
    const payment = await client.payments.create({ method: 'qris', amount: '10000' });
    await stack.sandbox.post('/sandbox/pay', { payment_code: payment.payment_code });
    const { headers, text } = await webhookAbout(payment.id);
    const verify = (changes: Record<string, string | undefined>, body = text, secret = built.webhookSecret) =>
      verifyWebhook(secret, { ...headers, ...changes }, body);
    expect(() => verify({})).not.toThrow();
    expect(() => verify({}, text, `whsec_${Buffer.alloc(32).toString('base64')}`)).toThrow('does not match');
    expect(() => verify({}, text.replace('10000', '90000'))).toThrow('does not match');
    expect(() => verify({ 'webhook-signature': 'v1,AAAA' })).toThrow('does not match');
    expect(() => verify({ 'webhook-signature': undefined })).toThrow('webhook-signature is missing');
    expect(() => verify({ 'webhook-timestamp': 'soon' })).toThrow('too old');
    const later = new Date(Date.now() + 301_000);
    expect(() => verifyWebhook(built.webhookSecret, headers, text, later)).toThrow('too old');
    const both = [`whsec_${Buffer.alloc(32).toString('base64')}`, built.webhookSecret];
    expect(verifyWebhook(both, headers, text).id).toBe(headers['webhook-id']);
  });

  it('pays out once though the first answer was lost, repeating the same bytes under the same key', async () => {
    const { fetch: lossy, calls } = losingFirstAnswers();
    const made = await connect({ fetch: lossy }).payouts.create(payout);
    expect(calls.map(({ method }) => method)).toEqual(['POST', 'POST']);
    const keys = new Set(calls.map(({ headers }) => headers.get('x-idempotency-key')));
    const signatures = new Set(calls.map(({ headers }) => headers.get('x-partner-signature')));
    expect([keys.size, signatures.size]).toEqual([1, 1]);
    const { body } = await stack.sandbox.get('/sandbox/records');
    const transfers = () => body.transfers.filter((row: { reference_id: string }) => row.reference_id === made.id);
    await eventually(
      () => client.payouts.get(made.id),
      ({ is_final }) => is_final,
    );
    expect(transfers().length).toBeLessThanOrEqual(1);
    expect((await client.payouts.list()).total).toBe(1);
    expect((await client.payouts.timeline(made.id)).next).toBeNull();
  });

  it('tells a refusal by its code, at once and with the key', async () => {
    let calls = 0;
    const counting: typeof fetch = (...args) => {
      calls += 1;
      return fetch(...args);
    };
    const key = freshKey();
    const refused = connect({ fetch: counting }).payouts.create(
      { ...payout, amount: '99000000' },
      { idempotencyKey: key },
    );
    await expect(refused).rejects.toMatchObject({
      name: 'PartnerApiError',
      code: 'FUNDS_INSUFFICIENT_BALANCE',
      status: 422,
      idempotencyKey: key,
      isIndeterminate: false,
    });
    expect(calls).toBe(1);
    await expect(client.payouts.get('3f2b8c1e-9d4a-4b7e-8a61-2c5d7e9f0a13')).rejects.toMatchObject({
      code: 'RESOURCE_NOT_FOUND',
    });
  });

  it('gives up after so many attempts without an answer, and says under which key to go on', async () => {
    const silent: typeof fetch = () => Promise.reject(new TypeError('fetch failed'));
    const given = connect({ fetch: silent, attempts: 2 }).payouts.create(payout);
    await expect(given).rejects.toMatchObject({
      name: 'NoAnswerError',
      idempotencyKey: expect.stringMatching(/^[\w-]{36}$/),
    });
  });

  it('waits as long as it is asked to when it comes too often', async () => {
    const started = performance.now();
    let first = true;
    const limited: typeof fetch = async (...args) => {
      if (!first) return fetch(...args);
      first = false;
      const body = { error: { code: 'REQUEST_RATE_LIMITED', message: 'slower' }, request_id: 'r' };
      return Response.json(body, { status: 429, headers: { 'retry-after': '1' } });
    };
    expect((await connect({ fetch: limited }).balance()).currency).toBe('IDR');
    expect(performance.now() - started).toBeGreaterThan(950);
  });

  it('reads every page of a list once, newest first', async () => {
    const made: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      made.push((await client.payments.create({ method: 'qris', amount: '10000', external_ref: 'page' })).id);
    }
    const read: string[] = [];
    for await (const { id } of client.payments.all({ limit: 2, external_ref: 'page' })) read.push(id);
    expect(read).toEqual(made.toReversed());
  });

  it('reads balance, channels and limits', async () => {
    const { balance, available, pending } = await client.balance();
    expect(Number(available) + Number(pending)).toBe(Number(balance));
    expect((await client.channels()).payout_banks.map(({ bank_code }) => bank_code)).toContain('BCA');
    expect((await client.limits()).max_hourly_count?.maximum).toBe(generous.max_hourly_count);
  });
});
