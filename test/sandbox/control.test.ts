import { PaymentCallbackFromJSON } from 'xendit-node/payment_request/models/index.js';
import { newId } from '../../src/shared/ids.ts';
import { eventually } from '../support/eventually.ts';
import { isFullRun } from '../support/run.ts';
import { buildInstrumentRequest, buildTransferRequest, callbackToken, openSandbox } from './open-sandbox.ts';

let sandbox: Awaited<ReturnType<typeof openSandbox>>;
beforeAll(async () => {
  sandbox = await openSandbox();
});
afterAll(() => sandbox.close());

async function issue(changes: Parameters<typeof buildInstrumentRequest>[0] = {}) {
  const request = buildInstrumentRequest(changes);
  const answer = await sandbox.gateway.requestInstrument(request);
  if (answer.outcome !== 'accepted') throw new Error(answer.code);
  return { reference: request.reference, ...answer.instrument };
}

const recordOf = async (reference: string) =>
  (await sandbox.get(`/sandbox/records?reference_id=${reference}`)).body.payments[0];

describe('Virtual account numbers', () => {
  const many = isFullRun() ? 10 : 3;
  const shapes = { BCA: 16, BNI: 16, BRI: 18, MANDIRI: 16, PERMATA: 16, BSI: 16, CIMB: 16 };
  test.each(Object.entries(shapes))('%s numbers have %d digits and are unique', async (channelCode, length) => {
    const codes = await Promise.all(Array.from({ length: many }, () => issue({ channelCode })));
    for (const { paymentCode } of codes) expect(paymentCode).toMatch(new RegExp(`^\\d{${length}}$`));
    expect(new Set(codes.map(({ paymentCode }) => paymentCode)).size).toBe(many);
  });
});

describe('Paying', () => {
  test('Paying the right amount completes a request and sends payment.succeeded in the real format', async () => {
    const { reference, paymentCode, providerPaymentRequestId } = await issue();
    const paid = await sandbox.pay(paymentCode);
    expect(paid).toMatchObject({ status: 200, body: { amount: 15_000, payment_request_status: 'SUCCEEDED' } });
    const [callback] = await sandbox.receiver.waitFor(reference);
    expect(callback?.headers).toMatchObject({
      'x-callback-token': callbackToken,
      'content-type': 'application/json',
      'webhook-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(PaymentCallbackFromJSON(callback?.body)).toMatchObject({
      event: 'payment.succeeded',
      businessId: expect.any(String),
      data: {
        id: paid.body.id,
        paymentRequestId: providerPaymentRequestId,
        referenceId: reference,
        amount: 15_000,
        currency: 'IDR',
        country: 'ID',
        status: 'SUCCEEDED',
        paymentMethod: { type: 'VIRTUAL_ACCOUNT' },
      },
    });
  });

  test('Paying a wrong amount creates a separate payment and leaves the request payable', async () => {
    const { reference, paymentCode } = await issue();
    await sandbox.pay(paymentCode, 14_999);
    expect(await recordOf(reference)).toMatchObject({ status: 'PENDING', payments: [{ amount: 14_999 }] });
    await sandbox.pay(paymentCode);
    expect(await recordOf(reference)).toMatchObject({ status: 'SUCCEEDED', payments: [{}, {}] });
  });

  test('Paying twice, or after expiry, decline or completion, creates a separate payment each time', async () => {
    const paid = await issue();
    await sandbox.pay(paid.paymentCode);
    await sandbox.pay(paid.paymentCode);
    expect(await recordOf(paid.reference)).toMatchObject({ status: 'SUCCEEDED', payments: [{}, {}] });

    const expired = await issue({ method: 'qris', channelCode: 'QRIS' });
    await sandbox.post('/sandbox/expire', { payment_code: expired.paymentCode });
    await sandbox.pay(expired.paymentCode);
    expect(await recordOf(expired.reference)).toMatchObject({ status: 'EXPIRED', payments: [{ status: 'SUCCEEDED' }] });

    const declined = await issue({ method: 'ewallet', channelCode: 'DANA' });
    await sandbox.post('/sandbox/decline', { payment_code: declined.paymentCode });
    await sandbox.pay(declined.paymentCode);
    expect(await recordOf(declined.reference)).toMatchObject({ status: 'FAILED', payments: [{}, {}] });
  });

  test('Declining fails the request with a code and sends payment.failed', async () => {
    const { reference, paymentCode } = await issue({ method: 'ewallet', channelCode: 'OVO' });
    await sandbox.post('/sandbox/decline', { payment_code: paymentCode });
    const [callback] = await sandbox.receiver.waitFor(reference);
    expect(callback?.body).toMatchObject({
      event: 'payment.failed',
      data: { status: 'FAILED', failure_code: 'DECLINED_BY_ISSUER', reference_id: reference },
    });
    expect(await recordOf(reference)).toMatchObject({ status: 'FAILED', failure_code: 'DECLINED_BY_ISSUER' });
  });

  test('An instrument expires at its deadline and sends payment_method.expired', async () => {
    const { reference, paymentCode } = await issue({ expiresAt: new Date(Date.now() + 3_000) });
    expect(await recordOf(reference)).toMatchObject({ status: 'PENDING' });
    const [callback] = await sandbox.receiver.waitFor(reference);
    expect(callback?.body).toMatchObject({
      event: 'payment_method.expired',
      data: { status: 'EXPIRED', reference_id: reference, type: 'VIRTUAL_ACCOUNT' },
    });
    await sandbox.pay(paymentCode);
    expect(await recordOf(reference)).toMatchObject({ status: 'EXPIRED', payments: [{ amount: 15_000 }] });
  });

  test('A pending payment completes its request once settled, even after the request has expired', async () => {
    const { reference, paymentCode } = await issue();
    const { body: pending } = await sandbox.post('/sandbox/pay', { payment_code: paymentCode, status: 'PENDING' });
    expect(pending).toMatchObject({ status: 'PENDING', payment_request_status: 'PENDING' });
    await sandbox.receiver.waitFor(reference, 1);
    const asked = () => sandbox.gateway.findInstrument(reference);
    expect(await asked()).toMatchObject({ status: 'waiting', payments: [{ status: 'pending', paidAt: null }] });
    await sandbox.post('/sandbox/expire', { payment_code: paymentCode });
    await sandbox.receiver.waitFor(reference, 2);
    const settle = (status: string) => sandbox.post('/sandbox/payments/settle', { payment_id: pending.id, status });
    expect((await settle('SUCCEEDED')).body).toMatchObject({ payment_request_status: 'SUCCEEDED' });
    expect(await asked()).toMatchObject({ status: 'paid', payments: [{ status: 'succeeded' }] });
    expect((await settle('FAILED')).status).toBe(404);
    const events = (await sandbox.receiver.waitFor(reference, 3)).map(({ body }) => body.event);
    expect(events).toEqual(['payment.pending', 'payment_method.expired', 'payment.succeeded']);
  });

  test('Paying an unknown code returns 404, an unknown field or a negative amount 400', async () => {
    expect((await sandbox.pay('9999')).status).toBe(404);
    const { paymentCode } = await issue();
    expect((await sandbox.pay(paymentCode, -1)).status).toBe(400);
    expect((await sandbox.post('/sandbox/pay', { payment_code: paymentCode, sum: 1 })).status).toBe(400);
  });
});

describe('Faults', () => {
  afterEach(() => sandbox.setFaults({}));

  test('Omitted fault settings return to their defaults', async () => {
    await sandbox.setFaults({ callbacks: { copies: 3, drop: true }, requests: { error_rate: 0.5 } });
    expect((await sandbox.setFaults({ requests: { hang_rate: 0.1 } })).body).toEqual({
      callbacks: { copies: 1, delay_ms: 0, shuffle: false, drop: false },
      requests: {
        error_rate: 0,
        hang_rate: 0.1,
        hang_after_effect: false,
        limit_rate: 0,
        retry_after_seconds: 1,
        delay_ms: 0,
      },
      listing: { lag_ms: 0 },
    });
    expect((await sandbox.get('/sandbox/faults')).body.requests.hang_rate).toBe(0.1);
    expect((await sandbox.setFaults({ requests: { error_rate: 2 } })).status).toBe(400);
    expect((await sandbox.setFaults({ weather: true })).status).toBe(400);
  });

  test('A listing lag hides payments of a request that is already paid', async () => {
    await sandbox.setFaults({ listing: { lag_ms: 3_600_000 } });
    const { reference, paymentCode } = await issue();
    await sandbox.pay(paymentCode);
    expect(await sandbox.gateway.findInstrument(reference)).toMatchObject({ status: 'paid', payments: [] });
    await sandbox.setFaults({});
    expect(await sandbox.gateway.findInstrument(reference)).toMatchObject({ status: 'paid', payments: [{}] });
  });

  test('Duplicated callbacks share one webhook id, and dropped ones never arrive', async () => {
    await sandbox.setFaults({ callbacks: { copies: 5 } });
    const copied = await issue();
    await sandbox.pay(copied.paymentCode);
    const callbacks = await sandbox.receiver.waitFor(copied.reference, 5);
    expect(new Set(callbacks.map(({ webhookId }) => webhookId)).size).toBe(1);
    expect(new Set(callbacks.map(({ text }) => text)).size).toBe(1);

    await sandbox.setFaults({ callbacks: { drop: true } });
    const dropped = await issue();
    await sandbox.pay(dropped.paymentCode);
    await sandbox.setFaults({});
    const later = await issue();
    await sandbox.pay(later.paymentCode);
    await sandbox.receiver.waitFor(later.reference);
    expect(sandbox.receiver.of(dropped.reference)).toEqual([]);
    expect(await recordOf(dropped.reference)).toMatchObject({ status: 'SUCCEEDED' });
  });

  test('Each real callback can come with one forged callback of another status, amount or token', async () => {
    const said = async (forge: 'status' | 'amount' | 'token') => {
      await sandbox.setFaults({ callbacks: { forge } });
      const { reference, paymentCode } = await issue();
      await sandbox.pay(paymentCode);
      const received = await sandbox.receiver.waitFor(reference, 2);
      return received.map(({ headers, body }) => [
        body.event,
        body.data.status,
        body.data.amount,
        headers['x-callback-token'],
      ]);
    };
    const real = ['payment.succeeded', 'SUCCEEDED', 15_000, callbackToken];
    expect((await said('status')).toSorted()).toEqual([['payment.failed', 'FAILED', 15_000, callbackToken], real]);
    expect((await said('amount')).toSorted()).toEqual([
      ['payment.succeeded', 'SUCCEEDED', 1_234_567, callbackToken],
      real,
    ]);
    expect(new Set((await said('token')).map(([, , , token]) => token))).toEqual(new Set(['forged', callbackToken]));
    await sandbox.setFaults({});
  });

  test('A request delay delays the response, and the request still takes effect', async () => {
    await sandbox.setFaults({ requests: { delay_ms: 400 } });
    const request = buildTransferRequest();
    const asked = performance.now();
    await sandbox.gateway.requestTransfer(request);
    expect(performance.now() - asked).toBeGreaterThan(395);
    await sandbox.setFaults({});
    expect(await sandbox.gateway.findTransfer(request.reference)).not.toBeNull();
  });

  test('A rate-limited request gets a 429 with Retry-After and has no effect', async () => {
    await sandbox.setFaults({ requests: { limit_rate: 1, retry_after_seconds: 9 } });
    const request = buildTransferRequest();
    await expect(sandbox.gateway.requestTransfer(request)).rejects.toMatchObject({ neverSent: true, restMs: 9_000 });
    await sandbox.setFaults({});
    expect(await sandbox.gateway.findTransfer(request.reference)).toBeNull();
  });

  test('A listing lag hides a transfer that was already requested', async () => {
    await sandbox.setFaults({ listing: { lag_ms: 60_000 } });
    const request = buildTransferRequest();
    await sandbox.gateway.requestTransfer(request);
    expect(await sandbox.gateway.findTransfer(request.reference)).toBeNull();
    await sandbox.setFaults({});
    expect(await sandbox.gateway.findTransfer(request.reference)).not.toBeNull();
  });

  test('A callback delay holds callbacks back, and shuffling reorders them', async () => {
    await sandbox.setFaults({ callbacks: { delay_ms: 500 } });
    const delayed = await issue();
    const paidAt = Date.now();
    await sandbox.pay(delayed.paymentCode);
    await sandbox.receiver.waitFor(delayed.reference);
    expect(Date.now() - paidAt).toBeGreaterThanOrEqual(490);

    await sandbox.setFaults({ callbacks: { shuffle: true } });
    const { reference, paymentCode } = await issue();
    for (let amount = 1; amount <= 20; amount += 1) await sandbox.pay(paymentCode, amount);
    const amounts = (await sandbox.receiver.waitFor(reference, 20)).map(({ body }) => body.data.amount);
    expect(amounts.toSorted((left, right) => left - right)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
    expect(amounts).not.toEqual(amounts.toSorted((left, right) => left - right));
  });

  test('A request with an injected error has no effect; one that hangs has an effect only if configured', async () => {
    await sandbox.setFaults({ requests: { error_rate: 1 } });
    const failing = buildInstrumentRequest();
    await expect(sandbox.gateway.requestInstrument(failing)).rejects.toMatchObject({ code: 'PROVIDER_UNKNOWN' });
    await sandbox.setFaults({ requests: { hang_rate: 1 } });
    const hanging = buildInstrumentRequest();
    await expect(sandbox.hurried.requestInstrument(hanging)).rejects.toMatchObject({ code: 'PROVIDER_UNKNOWN' });
    await sandbox.setFaults({ requests: { hang_rate: 1, hang_after_effect: true } });
    const made = buildInstrumentRequest();
    await expect(sandbox.hurried.requestInstrument(made)).rejects.toMatchObject({ code: 'PROVIDER_UNKNOWN' });
    expect(await recordOf(failing.reference)).toBeUndefined();
    expect(await recordOf(hanging.reference)).toBeUndefined();
    expect(await recordOf(made.reference)).toMatchObject({ status: 'PENDING' });
    await sandbox.setFaults({});
    const again = await sandbox.gateway.requestInstrument(made);
    expect(again).toMatchObject({ outcome: 'accepted' });
    expect((await sandbox.get(`/sandbox/records?reference_id=${made.reference}`)).body.payments).toHaveLength(1);
  });
});

describe('Webhooks of a partner', () => {
  test('The sandbox stores every partner webhook with its headers and bytes', async () => {
    const text = '{"type": "payment.succeeded",  "data": {"note": "spaces kept"}}';
    await fetch(`${sandbox.url}/sandbox/webhooks`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'webhook-signature': 'v1,abc' },
      body: text,
    });
    const { webhooks } = (await sandbox.get('/sandbox/webhooks')).body;
    expect(webhooks.at(-1)).toMatchObject({ body: text, headers: { 'webhook-signature': 'v1,abc' } });
    expect((await sandbox.get('/sandbox/webhooks?contains=spaces%20kept')).body.webhooks).toHaveLength(1);
    expect((await sandbox.get(`/sandbox/webhooks?after=${webhooks.at(-1)?.seq}`)).body.webhooks).toEqual([]);
  });
});

describe('The sandbox page', () => {
  const page = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(sandbox.url + path, { redirect: 'manual', ...init });
    return { status: answer.status, location: answer.headers.get('location'), html: await answer.text() };
  };
  const submit = (path: string, fields: Record<string, string>) =>
    page(path, { method: 'POST', body: new URLSearchParams(fields) });

  test('The sandbox page lists open instruments and opens one by its number', async () => {
    const { paymentCode, providerPaymentRequestId } = await issue();
    expect((await page('/')).html).toContain(paymentCode);
    const found = await page(`/?code=${paymentCode}`);
    expect(found).toMatchObject({ status: 302, location: `/checkout/${providerPaymentRequestId}` });
    expect((await page('/?code=123')).status).toBe(404);
  });

  test('A checkout URL shows its payment, which can be paid there', async () => {
    const { reference, paymentCode } = await issue({ method: 'ewallet', channelCode: 'DANA' });
    const path = new URL(paymentCode).pathname;
    expect((await page(path)).html).toContain('Rp 15.000');
    expect((await submit(path, { action: 'pay', amount: '15000' })).status).toBe(303);
    expect(await recordOf(reference)).toMatchObject({ status: 'SUCCEEDED' });
    expect((await page(path)).html).toContain('Back to the merchant');
  });

  test('The checkout page shows a QR code as an image and can decline its payment', async () => {
    const { reference, providerPaymentRequestId } = await issue({ method: 'qris', channelCode: 'QRIS' });
    const path = `/checkout/${providerPaymentRequestId}`;
    expect((await page(path)).html).toContain('<img src="data:image/svg+xml;base64,');
    await submit(path, { action: 'decline' });
    expect(await recordOf(reference)).toMatchObject({ status: 'FAILED' });
    expect((await submit(path, { action: 'pay', amount: 'much' })).status).toBe(400);
  });

  test('The sandbox page shows each item’s purpose and bank, and the number of hidden items', async () => {
    await Promise.all(Array.from({ length: 51 }, () => issue({ description: 'INV-2026-0042' })));
    const ofBank = { method: 'virtual_account', channelCode: 'BRI', amount: null } as const;
    await sandbox.gateway.requestReusable({ ...ofBank, reference: newId(), description: 'customer-17' });
    await sandbox.gateway.requestReusable({ ...ofBank, reference: newId() });
    const { html } = await page('/');
    for (const shown of ['<span class="small">INV-2026-0042</span>', '<span class="small">customer-17</span>', ''])
      expect(html).toContain(`data-label="Reference">${shown}</td>`);
    expect(html).toContain('Bank Rakyat Indonesia virtual account');
    expect(html).toMatch(/\d+ older ones are not shown/);
  });

  test('An e-wallet payment has the requested expiry time', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000);
    const { reference } = await issue({ method: 'ewallet', channelCode: 'DANA', expiresAt });
    expect(await recordOf(reference)).toMatchObject({ expires_at: expiresAt.toISOString() });
  });

  test('The sandbox page can advance the clock and set faults', async () => {
    const { reference } = await issue();
    expect((await submit('/controls/clock', { seconds: '0' })).status).toBe(400);
    expect((await submit('/controls/clock', { seconds: '604800' })).status).toBe(303);
    await eventually(
      () => recordOf(reference),
      (record) => record?.status === 'EXPIRED',
    );
    expect((await submit('/controls/faults', { 'requests.error_rate': '2' })).status).toBe(400);
    const set = {
      'callbacks.copies': '2',
      'callbacks.shuffle': 'true',
      'callbacks.forge': 'token',
      'listing.lag_ms': '5',
    };
    expect((await submit('/controls/faults', set)).status).toBe(303);
    const faults = async () => (await sandbox.get('/sandbox/faults')).body;
    expect(await faults()).toMatchObject({
      callbacks: { copies: 2, shuffle: true, forge: 'token' },
      listing: { lag_ms: 5 },
    });
    expect((await page('/controls')).html).toContain('name="callbacks.copies" min="0" step="any" value="2"');
    await submit('/controls/faults', {});
    expect(await faults()).toMatchObject({ callbacks: { copies: 1, shuffle: false }, listing: { lag_ms: 0 } });
  });

  test('The sandbox page escapes HTML in descriptions', async () => {
    const { providerPaymentRequestId } = await issue({ description: '<script>alert(1)</script>' });
    const { html } = await page(`/checkout/${providerPaymentRequestId}`);
    expect(html).not.toContain('<script>');
    expect(html).toContain('&lt;script&gt;');
  });
});
