import { createHash, createHmac } from 'node:crypto';
import { findFreePort } from '../../dev/ports.ts';
import { createPartnerClient, type ErrorCode, PartnerApiError, type PartnerClientOptions } from '../../sdk/index.ts';
import { eventually } from '../support/eventually.ts';
import { casesOf } from '../support/full.ts';
import { type Action, openPeer } from './peer.ts';

const signingSecret = 'ams_secret';
const connect = (baseUrl: string, options: Partial<PartnerClientOptions> = {}) =>
  createPartnerClient({ baseUrl, apiKey: 'amk_key', signingSecret, ...options });

const hmac = (text: string) => createHmac('sha256', signingSecret).update(text).digest('hex');
const refusal = (status: number, code: ErrorCode, headers = {}, details?: unknown): Action => ({
  status,
  headers,
  body: { error: { code, message: 'no', ...(details !== undefined && { details }) }, request_id: 'r-1' },
});
const done: Action = { status: 200, body: { data: { id: 'made' }, request_id: 'r-2' } };
const payout = { amount: '20000', bank_code: 'BCA', bank_account_number: '1234567890' };
const idempotencyKey = 'order-4711';

/** The error of a refused call. */
async function refusedWith(call: Promise<unknown>): Promise<PartnerApiError> {
  const error: unknown = await call.catch((thrown: unknown) => thrown);
  if (!(error instanceof PartnerApiError)) throw new Error(`not refused by the API: ${error}`);
  return error;
}

describe('The partner client', () => {
  it('The partner client signs the bytes that it sends (none for a read), and keeps the path of baseUrl', async () => {
    await using peer = await openPeer([done]);
    const client = connect(`${peer.url}/amanah/`);
    await client.payments.create({ method: 'qris', amount: '50000', customer_name: 'Siti Nurhaliza 🌸' });
    await client.payments.list({ status: 'failed', external_ref: 'a b&c' });
    const [create, list] = peer.requests;
    expect(create).toMatchObject({
      url: '/amanah/v1/partners/payments',
      headers: {
        authorization: 'Bearer amk_key',
        'x-partner-signature': hmac(create?.text ?? ''),
        'x-idempotency-key': expect.stringMatching(/^[\w-]{36}$/),
      },
    });
    expect(JSON.parse(create?.text ?? '')).toMatchObject({ customer_name: 'Siti Nurhaliza 🌸' });
    expect(list).toMatchObject({
      url: '/amanah/v1/partners/payments?status=failed&external_ref=a+b%26c',
      headers: { 'x-partner-signature': hmac('') },
    });
  });

  it('The partner client’s v2 signature covers time, method, path, query, key and body of every attempt', async () => {
    await using peer = await openPeer([refusal(503, 'SERVICE_UNAVAILABLE', { 'retry-after': '0' }), done]);
    await connect(peer.url).payouts.create(payout, { idempotencyKey });
    await connect(`${peer.url}/amanah/`).payments.list({ external_ref: 'a b&c' });
    expect(peer.requests).toHaveLength(3);
    for (const { method, url, headers, text } of peer.requests) {
      const [, at = '', hex] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-partner-signature-v2'])) ?? [];
      expect(Math.abs(Date.now() / 1000 - Number(at))).toBeLessThan(60);
      const digest = createHash('sha256').update(text).digest('hex');
      expect(hex).toBe(hmac([at, method, url, headers['x-idempotency-key'] ?? '', digest].join('\n')));
    }
  });

  it('The partner client does not retry a key rotation, because the API returns the new key only once', async () => {
    await using peer = await openPeer(['reset', done]);
    await expect(connect(peer.url).keys.rotate()).rejects.toThrow();
    expect(peer.requests).toHaveLength(1);
  });

  it('The partner client signs unkeyed calls in different seconds, because a signature is accepted once', async () => {
    await using peer = await openPeer([refusal(503, 'SERVICE_UNAVAILABLE', { 'retry-after': '0' }), done]);
    const client = connect(peer.url);
    await client.payments.cancel('019bba56-a840-7c3e-9a51-3f1d0c8e7b24');
    await client.payments.cancel('019bba56-a840-7c3e-9a51-3f1d0c8e7b24');
    const seconds = peer.requests.map(
      ({ headers }) => /^t=(\d+),/.exec(String(headers['x-partner-signature-v2']))?.[1],
    );
    expect(new Set(seconds).size).toBe(3);
  });

  const failures: [string, Action][] = [
    ['a 503', refusal(503, 'SERVICE_UNAVAILABLE', { 'retry-after': '0' })],
    ['a 429', refusal(429, 'REQUEST_RATE_LIMITED', { 'retry-after': '0' })],
    ['a 500', refusal(500, 'INTERNAL')],
    ['a 408', refusal(408, 'REQUEST_TIMEOUT')],
    ['an unknown outcome', refusal(504, 'PROVIDER_INDETERMINATE')],
    ['a proxy that cannot reach the API', { status: 502, body: '<h1>Bad Gateway</h1>' }],
    ['a reset connection', 'reset'],
    ['another server’s answer', { status: 200, body: '{"hello":"world"}' }],
    ['half an answer', { status: 200, body: '{"data":{"id"' }],
    ['silence', 'silence'],
  ];
  it.each(casesOf(failures, ([, action], index) => index % 2 === 0 || action === 'silence'))(
    'The partner client retries after %s with the same bytes and the same idempotency key',
    async (_, action) => {
      await using peer = await openPeer([action, done]);
      const made = connect(peer.url, { timeoutMs: action === 'silence' ? 1_500 : 20_000 }).payouts.create(payout, {
        idempotencyKey,
      });
      expect(await made).toEqual({ id: 'made' });
      expect(peer.requests).toHaveLength(2);
      expect(peer.distinct()).toEqual([`${idempotencyKey} ${hmac(JSON.stringify(payout))} ${JSON.stringify(payout)}`]);
    },
  );

  it('The partner client does not retry a refusal, and types its details by the code', async () => {
    const limit = { limit: 'max_hourly_count', maximum: 3, used: 3, remaining: 0 };
    const codes: [number, ErrorCode][] = [
      [400, 'REQUEST_INVALID_PAYLOAD'],
      [401, 'AUTH_INVALID_CREDENTIALS'],
      [403, 'AUTH_PERMISSION_DENIED'],
      [409, 'REQUEST_IDEMPOTENCY_KEY_REUSED'],
      [422, 'FUNDS_LIMIT_EXCEEDED'],
      [502, 'PROVIDER_REFUSED'],
    ];
    await using peer = await openPeer(codes.map(([status, code]) => refusal(status, code, {}, limit)));
    for (const [status, code] of codes) {
      const error = await refusedWith(connect(peer.url).payouts.create(payout, { idempotencyKey }));
      expect(error).toMatchObject({ status, code, message: `${code}: no`, requestId: 'r-1', idempotencyKey });
      expect(error.is('FUNDS_LIMIT_EXCEEDED') && error.details?.limit).toBe(status === 422 && 'max_hourly_count');
    }
    expect(peer.requests).toHaveLength(codes.length);
  });

  it('The partner client suggests checking baseUrl when something other than the API responds', async () => {
    const moved: Action = { status: 301, headers: { location: 'https://pay.example.org/' } };
    await using peer = await openPeer([moved, { status: 404, body: '<h1>Not Found</h1>' }]);
    const answers = [await refusedWith(connect(peer.url).balance()), await refusedWith(connect(peer.url).balance())];
    expect(answers.map(({ message }) => message)).toEqual([
      'status 301, a redirect to https://pay.example.org/: is baseUrl right?',
      'status 404, the answer is not from the API: is baseUrl right?',
    ]);
    expect(answers.map(({ code }) => code)).toEqual(['UNREADABLE', 'UNREADABLE']);
  });

  it('The partner client fails after its last attempt with the reason and the key for a later retry', async () => {
    const nobody = `http://127.0.0.1:${await findFreePort()}`;
    await expect(connect(nobody, { attempts: 2 }).payouts.create(payout, { idempotencyKey })).rejects.toMatchObject({
      name: 'NoAnswerError',
      idempotencyKey,
      message: expect.stringMatching(/^POST \/v1\/partners\/payouts got no answer in 2 attempts \(.*ECONNREFUSED/),
    });
    await using peer = await openPeer([refusal(504, 'PROVIDER_INDETERMINATE')]);
    const made = connect(peer.url, { attempts: 2 }).payments.create({ method: 'qris', amount: '50000' });
    const { isIndeterminate, idempotencyKey: own } = await refusedWith(made);
    expect([isIndeterminate, own]).toEqual([true, peer.requests[0]?.headers['x-idempotency-key']]);
    expect(peer.requests).toHaveLength(2);
  });

  it.each<[boolean, string, Action[]]>([
    [true, 'a reset and a 429', ['reset', refusal(429, 'REQUEST_RATE_LIMITED')]],
    [true, 'a reset and a revoked key', ['reset', refusal(401, 'AUTH_INVALID_CREDENTIALS')]],
    [true, 'a 503, a 429 and a 429', [503, 429, 429].map((status) => refusal(status, 'REQUEST_RATE_LIMITED'))],
    [true, 'a 503 alone', [refusal(503, 'SERVICE_UNAVAILABLE')]],
    [true, 'a proxy without an API', [{ status: 502, body: '<h1>Bad Gateway</h1>' }]],
    [false, 'a reset and a decision', ['reset', refusal(422, 'FUNDS_LIMIT_EXCEEDED')]],
    [false, 'the provider’s refusal', [refusal(502, 'PROVIDER_REFUSED')]],
    [false, 'a 429 alone', [refusal(429, 'REQUEST_RATE_LIMITED')]],
  ])('The partner client reports isIndeterminate = %s for a payout after %s', async (isIndeterminate, _, calls) => {
    await using peer = await openPeer(calls);
    const made = connect(peer.url, { attempts: calls.length }).payouts.create(payout, { idempotencyKey });
    expect(await refusedWith(made)).toMatchObject({ isIndeterminate, idempotencyKey });
    expect((await refusedWith(connect(peer.url, { attempts: 1 }).balance())).isIndeterminate).toBe(false);
  });

  it('The partner client treats a refused refund as not created, even after an unanswered attempt', async () => {
    const left = { paid: '50000.0000', refunded: '40000.0000', remaining: '10000.0000' };
    const refusals = [refusal(409, 'PAYMENT_NOT_PAID'), refusal(422, 'FUNDS_REFUND_EXCEEDED', {}, left)];
    await using peer = await openPeer(refusals.flatMap((decided): Action[] => ['reset', decided]));
    const refund = () => refusedWith(connect(peer.url).payments.refund('p-1', { reason: 'late' }, { idempotencyKey }));
    expect(await refund()).toMatchObject({ code: 'PAYMENT_NOT_PAID', isIndeterminate: false, idempotencyKey });
    const exceeded = await refund();
    expect(exceeded.isIndeterminate).toBe(false);
    expect(exceeded.is('FUNDS_REFUND_EXCEEDED') && exceeded.details?.remaining).toBe('10000.0000');
    expect(peer.requests).toHaveLength(4);
  });

  it('The partner client waits for Retry-After, and fails at once if that is too long', async () => {
    await using peer = await openPeer([
      refusal(429, 'REQUEST_RATE_LIMITED', { 'retry-after': '1' }),
      done,
      refusal(503, 'SERVICE_UNAVAILABLE', { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() }),
    ]);
    const started = performance.now();
    await connect(peer.url).balance();
    expect(performance.now() - started).toBeGreaterThan(950);
    const { retryAfterSeconds = 0 } = await refusedWith(connect(peer.url).balance());
    expect(retryAfterSeconds).toBeGreaterThan(3500);
    expect(peer.requests).toHaveLength(3);
  });

  it('The partner client stops when its caller aborts, during an attempt and between attempts', async () => {
    for (const action of ['silence', refusal(503, 'SERVICE_UNAVAILABLE', { 'retry-after': '30' })] as const) {
      await using peer = await openPeer([action]);
      const caller = new AbortController();
      const refused = expect(
        connect(peer.url).payouts.create(payout, { idempotencyKey, signal: caller.signal }),
      ).rejects.toMatchObject({ name: 'NoAnswerError', idempotencyKey, cause: { name: 'AbortError' } });
      await eventually(
        async () => peer.requests.length,
        (count) => count === 1,
      );
      caller.abort();
      await refused;
      expect(peer.requests).toHaveLength(1);
    }
  });

  it('The partner client rejects invalid options, keys and ids without sending a request', async () => {
    await using peer = await openPeer([done]);
    const client = connect(peer.url);
    expect(() => connect('pay.example.org')).toThrow('baseUrl is the address of the API');
    expect(() => connect(peer.url, { apiKey: '' })).toThrow('apiKey is missing');
    expect(() => connect(peer.url, { signingSecret: 'ams_secret\n' })).toThrow('signingSecret is missing or has');
    // @ts-expect-error: without its own key, a repeated call would create another payout
    await expect(client.payouts.create(payout)).rejects.toThrow('idempotencyKey must be 8 to 128');
    for (const key of ['short', ' padded-key ', 'päckchen-4711']) {
      await expect(client.payouts.create(payout, { idempotencyKey: key })).rejects.toThrow(
        'idempotencyKey must be 8 to 128',
      );
    }
    await expect(client.payments.get('')).rejects.toThrow('id is missing');
    await expect(client.payouts.get('..')).rejects.toThrow('id is missing');
    expect(peer.requests).toEqual([]);
  });

  it('The partner client iterates over all pages and stops after the last', async () => {
    const page = (ids: string[], next?: string): Action => ({
      status: 200,
      body: { data: { items: ids.map((each) => ({ id: each })), page: 1, limit: 2, total: 4, next } },
    });
    await using peer = await openPeer([page(['d', 'c'], 'nRead-on'), page(['b', 'a'])]);
    const read: string[] = [];
    for await (const row of connect(peer.url).payouts.all({ limit: 2 })) read.push(row.id);
    expect(read).toEqual(['d', 'c', 'b', 'a']);
    expect(peer.requests.map(({ url }) => url)).toEqual([
      '/v1/partners/payouts?limit=2',
      '/v1/partners/payouts?limit=2&after=nRead-on',
    ]);
  });
});
