import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Credentials } from '../../dev/credentials.ts';
import {
  createPartnerClient,
  type ErrorCode,
  type PartnerClient,
  type PartnerClientOptions,
  verifyWebhook,
  type Webhook,
} from '../../sdk/index.ts';
import { eventually } from '../support/eventually.ts';
import { createHttp, type Http } from '../support/http.ts';
import { type Product, startProduct } from '../support/product.ts';
import { type Action, openPeer } from './peer.ts';

/** The tests use nothing of the product but its `credentials.json`. */
let product: Product;
let directory: string;
let given: Credentials;
let client: PartnerClient;
let sandbox: Http;

const connect = (options: Partial<PartnerClientOptions> = {}): PartnerClient =>
  createPartnerClient({
    baseUrl: given.urls.api,
    apiKey: given.partner.api_key,
    signingSecret: given.partner.signing_secret,
    ...options,
  });

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sdk-'));
  product = startProduct(directory);
  await product.untilReady();
  given = product.credentials();
  client = connect();
  sandbox = createHttp(given.urls.sandbox ?? '');
  // Payouts here need earlier payments.
  await collect('2000000');
}, 120_000);
afterAll(async () => {
  await product.stop();
  rmSync(directory, { recursive: true, force: true });
}, 30_000);

let keys = 0;
const freshKey = (): string => {
  keys += 1;
  return `live-order-${keys}`;
};
const payout = { amount: '20000', bank_code: 'BCA', bank_account_number: '1234567890', beneficiary_name: 'Siti' };
const unknownId = '3f2b8c1e-9d4a-4b7e-8a61-2c5d7e9f0a13';

interface Kept {
  headers: Record<string, string>;
  body: string;
}
/** The webhook about a resource, as received by the demo partner's endpoint on the sandbox. */
async function receive(id: string): Promise<Kept> {
  const got = await eventually(
    async (): Promise<Kept[]> => (await sandbox.get(`/sandbox/webhooks?contains=${id}`)).body.webhooks,
    (kept) => kept.length > 0,
  );
  if (got[0] === undefined) throw new Error('no webhook');
  return got[0];
}
async function toldOf(id: string): Promise<Webhook> {
  const { headers, body } = await receive(id);
  return (await verifyWebhook(given.partner.webhook_secret, headers, body)).webhook;
}

/** Lets a customer pay, and waits until the net can be paid out. */
async function collect(amount: string): Promise<string> {
  const { available } = await client.balance();
  const made = await client.payments.create({ method: 'virtual_account', channel: 'BCA', amount });
  await sandbox.post('/sandbox/pay', { payment_code: made.payment_code });
  await eventually(
    () => client.balance(),
    (balance) => Number(balance.available) >= Number(available) + Number(made.net_amount),
  );
  return made.id;
}

describe('The partner client against npm start', () => {
  it('The partner client collects by every method: quote, payment, webhook, detail, timeline', async () => {
    const ways = [
      { method: 'virtual_account', channel: 'BNI' },
      { method: 'qris' },
      { method: 'ewallet', channel: 'DANA' },
      { method: 'ewallet', channel: 'OVO' },
    ] as const;
    const codes = { BNI: /^\d+$/, qris: /^000201/, DANA: /^https?:/ };
    const collectBy = async (way: (typeof ways)[number]) => {
      const channel = 'channel' in way ? way.channel : undefined;
      const quote = await client.payments.quote({ ...way, amount: '50000' });
      const customer = channel === 'OVO' ? { customer_phone: '+6281234567890' } : {};
      const made = await client.payments.create({ ...way, ...customer, amount: '50000', external_ref: 'INV-7' });
      expect(made).toMatchObject({
        ...way,
        status: 'pending',
        is_final: false,
        reference: 'INV-7',
        amount: quote.gross_amount,
        fee: quote.fee,
        net_amount: quote.net_amount,
        payment_code: channel === 'OVO' ? null : expect.stringMatching(codes[channel ?? 'qris']),
        status_url: `/v1/partners/payments/${made.id}`,
      });
      await sandbox.post('/sandbox/pay', { payment_code: made.payment_code ?? made.id });
      expect(await toldOf(made.id)).toMatchObject({
        type: 'payment.succeeded',
        data: { id: made.id, status: 'succeeded', net_amount: quote.net_amount, version: expect.any(Number) },
      });
      expect(await client.payments.get(made.id)).toMatchObject({ status: 'succeeded', is_final: true });
      const { items } = await client.payments.timeline(made.id);
      expect(items.map(({ type }) => type)).toEqual(expect.arrayContaining(['request', 'callback', 'outcome']));
    };
    await Promise.all(ways.map(collectBy));
    const { items } = await client.payments.list({ external_ref: 'INV-7' });
    expect(items.map(({ channel }) => channel ?? 'QRIS').sort()).toEqual(['BNI', 'DANA', 'OVO', 'QRIS']);
  });

  it('The partner client cancels an open payment, and gets a 409 for a paid one', async () => {
    const made = await client.payments.create({ method: 'virtual_account', channel: 'BNI', amount: '50000' });
    expect(await client.payments.cancel(made.id)).toMatchObject({ id: made.id, status: 'expired', is_final: true });
    expect((await toldOf(made.id)).type).toBe('payment.expired');
    const { items } = await client.payments.list({ status: 'succeeded' });
    const paid = items[0]?.id ?? '';
    await expect(client.payments.cancel(paid)).rejects.toMatchObject({ status: 409, code: 'PAYMENT_ALREADY_PAID' });
  });

  it('The partner client pays out: balance, limits, payout, webhook, detail, timeline', async () => {
    const [balance, limits] = [await client.balance(), await client.limits()];
    expect(Number(balance.available) + Number(balance.pending)).toBe(Number(balance.balance));
    const made = await client.payouts.create({ ...payout, external_ref: 'PO-1' }, { idempotencyKey: freshKey() });
    expect(made).toMatchObject({ status: 'pending', amount: '20000.0000', fee: '2500.0000', external_ref: 'PO-1' });
    expect(await toldOf(made.id)).toMatchObject({
      type: 'payout.succeeded',
      data: { id: made.id, net_amount: '17500.0000', bank_account_number: '1234567890' },
    });
    expect(await client.payouts.get(made.id)).toMatchObject({ status: 'succeeded', is_final: true });
    expect((await client.payouts.timeline(made.id)).next).toBeNull();
    expect((await client.payouts.list({ external_ref: 'PO-1' })).items.map(({ id }) => id)).toEqual([made.id]);
    const used = (await client.limits()).max_hourly_count?.used ?? 0;
    expect(used - (limits.max_hourly_count?.used ?? 0)).toBe(1);
    expect(Number(balance.balance) - Number((await client.balance()).balance)).toBe(20_000);
  });

  it('The partner client quotes a payout to a checked account', async () => {
    const { bank_code, bank_account_number } = payout;
    const { id } = await client.checkBankAccount({ bank_code, bank_account_number });
    const amount = '20000';
    const [checked, named] = await Promise.all([
      client.payouts.quote({ amount, bank_account_check_id: id }),
      client.payouts.quote({ amount, bank_code }),
    ]);
    expect(checked.fee).toBe(named.fee);
  });

  it('A partner receives a webhook with the failure code of a failed payout', async () => {
    const refused = { ...payout, bank_account_number: '1234999999' };
    const { id } = await client.payouts.create(refused, { idempotencyKey: freshKey() });
    const told = await toldOf(id);
    expect(told).toMatchObject({ type: 'payout.failed', data: { failure_code: 'REJECTED_BY_CHANNEL' } });
  });

  it('The partner client lists the channels and banks open to the partner', async () => {
    const { fee_mode: feeMode, collection, payout_banks: banks } = await client.channels();
    expect(feeMode).toBe('DEDUCTED');
    expect(collection).toContainEqual(expect.objectContaining({ method: 'qris', basis_points: 70 }));
    expect(collection.find(({ channel }) => channel === 'DANA')).toMatchObject({
      refundable: true,
      refundable_in_part: true,
      refund_window_days: 30,
    });
    expect(banks.map(({ bank_code: code }) => code)).toContain('BCA');
  });

  it('The partner client lists one page, or iterates over all rows once, newest first', async () => {
    const made: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      made.push((await client.payments.create({ method: 'qris', amount: '10000', external_ref: 'PAGE' })).id);
    }
    const query = { limit: 2, external_ref: 'PAGE', status: 'pending' } as const;
    expect(await client.payments.list({ ...query, page: 3 })).toMatchObject({
      items: [{ id: made[0] }],
      page: 3,
      limit: 2,
      total: 5,
    });
    const read: string[] = [];
    for await (const { id } of client.payments.all(query)) read.push(id);
    expect(read).toEqual(made.toReversed());
  });

  it('The partner client gets the first response again under its key, and a refusal for another body', async () => {
    await using peer = await openPeer(['pass'], given.urls.api);
    const { payouts } = connect({ baseUrl: peer.url });
    const idempotencyKey = freshKey();
    const first = await payouts.create(payout, { idempotencyKey });
    expect(await payouts.create(payout, { idempotencyKey })).toEqual(first);
    expect(peer.passed.map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, 'true']);
    const another = payouts.create({ ...payout, amount: '20001' }, { idempotencyKey });
    await expect(another).rejects.toMatchObject({ code: 'REQUEST_IDEMPOTENCY_KEY_REUSED', idempotencyKey });
  });

  it('The partner client pays out once despite a 503, a 429 and resets before and after the creation', async () => {
    const calls: Action[] = [
      { status: 503, headers: { 'retry-after': '0' } },
      { status: 429, headers: { 'retry-after': '0' } },
      'reset',
      'lose answer',
    ];
    const { total } = await client.payouts.list();
    const payThrough = async (action: Action) => {
      await using peer = await openPeer([action, 'pass'], given.urls.api);
      const made = await connect({ baseUrl: peer.url }).payouts.create(payout, { idempotencyKey: freshKey() });
      expect([peer.requests.length, peer.distinct().length]).toEqual([2, 1]);
      expect(await toldOf(made.id)).toMatchObject({ type: 'payout.succeeded' });
      const { body } = await sandbox.get(`/sandbox/records?reference_id=${made.id}`);
      expect(body.transfers).toHaveLength(1);
    };
    await Promise.all(calls.map(payThrough));
    expect((await client.payouts.list()).total).toBe(total + calls.length);
  });

  it('The partner client reports the status, code and details of a refusal', async () => {
    const paying = (changes: object) =>
      client.payouts.create({ ...payout, ...changes }, { idempotencyKey: freshKey() });
    const collecting = (changes: object) => client.payments.create({ method: 'qris', amount: '10000', ...changes });
    const stranger = connect({ signingSecret: 'ams_somebody_else' });
    const refusals: [() => Promise<unknown>, number, ErrorCode, unknown?][] = [
      [() => stranger.balance(), 401, 'AUTH_INVALID_CREDENTIALS'],
      [() => client.payments.get(unknownId), 404, 'RESOURCE_NOT_FOUND'],
      [() => client.payouts.timeline(unknownId), 404, 'RESOURCE_NOT_FOUND'],
      [() => collecting({ amount: '0.5' }), 400, 'REQUEST_INVALID_PAYLOAD', [{ field: 'amount' }]],
      [() => collecting({ channel: 'BCA' }), 400, 'REQUEST_INVALID_PAYLOAD', [{ field: 'channel' }]],
      [() => collecting({ organization_id: unknownId }), 403, 'RESOURCE_NOT_LINKED'],
      [() => paying({ amount: '25000001' }), 422, 'FUNDS_LIMIT_EXCEEDED', { limit: 'max_payout_amount' }],
      [() => paying({ amount: '24000000' }), 422, 'FUNDS_INSUFFICIENT_BALANCE', { required: '24000000.0000' }],
    ];
    for (const [call, status, code, details] of refusals) {
      const expected = { name: 'PartnerApiError', status, code, requestId: expect.any(String) };
      await expect(call()).rejects.toMatchObject({ ...expected, ...(details !== undefined && { details }) });
    }
  });

  it('The partner client manages webhook endpoints: secret, test, rotation, update, replay, deletion', async () => {
    const { webhookEndpoints, webhookDeliveries } = client;
    const url = `${given.urls.sandbox}/sandbox/webhooks`;
    const { id, secret } = await webhookEndpoints.create({ url, events: ['payout.failed'] });
    const test = await webhookEndpoints.test(id);
    const { headers, body } = await receive(id);
    expect(await verifyWebhook(secret, headers, body)).toMatchObject({
      id: test.webhook_id,
      webhook: { type: 'endpoint.test', data: { id, url, version: 1 } },
    });
    const { secret: next } = await webhookEndpoints.rotateSecret(id);
    expect(next).not.toBe(secret);
    const kept = await eventually(
      async () => (await webhookDeliveries.list({ endpoint_id: id })).items,
      ([row]) => row?.status === 'delivered',
    );
    expect(kept).toMatchObject([{ id: test.id, endpoint_id: id, type: 'endpoint.test' }]);
    const period = { from: test.created_at, to: '2999-12-31', endpoint_id: id };
    expect(await webhookDeliveries.replay({ ...period, dry_run: true })).toEqual({ count: 1 });
    expect(await webhookDeliveries.replay(period)).toEqual({ count: 1 });
    expect(await webhookEndpoints.update(id, { status: 'disabled' })).toMatchObject({ disabled_reason: 'requested' });
    await expect(webhookEndpoints.test(id)).rejects.toMatchObject({ status: 400, code: 'REQUEST_INVALID_PAYLOAD' });
    const ids = async () => (await webhookEndpoints.list()).items.map((endpoint) => endpoint.id);
    expect(await ids()).toContain(id);
    expect(await webhookEndpoints.delete(id)).toMatchObject({ id });
    expect(await ids()).not.toContain(id);
  });

  it('The partner client reads the settlement statement of a day', async () => {
    const today = new Date(Date.now() + 7 * 3_600_000).toISOString().slice(0, 10);
    const { day, totals } = await client.settlement(today);
    expect([day, Number(totals.paid.amount) > 0]).toEqual([today, true]);
  });

  it('The partner client accepts no forged, altered or old webhook', async () => {
    const { headers, body } = await receive(await collect('30000'));
    const secret = given.partner.webhook_secret;
    expect(await verifyWebhook(secret, headers, body)).toMatchObject({ id: headers['webhook-id'] });
    await expect(verifyWebhook(secret, headers, body.replace('30000', '90000'))).rejects.toThrow('does not match');
    const forged = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
    await expect(verifyWebhook(forged, headers, body)).rejects.toThrow('does not match');
    const later = new Date(Date.now() + 301_000);
    await expect(verifyWebhook(secret, headers, body, later)).rejects.toThrow('too old');
  });

  it('The books balance after all calls of the partner client', async () => {
    const verify = join(import.meta.dirname, '../../src/wiring/commands/verify.ts');
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: directory };
    const { stdout } = await promisify(execFile)(process.execPath, [verify], { env });
    expect(stdout).toContain('The books are in order.');
  });
});
