import { PaymentMethod, Payout } from 'xendit-node';
import { newId } from '../../src/shared/ids.ts';
import { eventually } from '../support/eventually.ts';
import { buildInstrumentRequest, buildTransferRequest, openSandbox, secretKey } from './open-sandbox.ts';

/** Tests that the sandbox refuses what the provider refuses, lists its payout channels, and advances its clock. */
let sandbox: Awaited<ReturnType<typeof openSandbox>>;
beforeAll(async () => {
  sandbox = await openSandbox();
});
afterAll(() => sandbox.close());

async function call(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
  const answer = await fetch(sandbox.url + path, {
    method,
    headers: {
      'content-type': 'application/json',
      authorization: `Basic ${Buffer.from(`${secretKey}:`).toString('base64')}`,
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as { id: string; moved: { transfers: number } } };
}

const payoutBody = (changes: object = {}, properties: object = {}) => ({
  reference_id: newId(),
  channel_code: 'ID_BRI',
  channel_properties: { account_number: '0001000111111', account_holder_name: 'Siti Rahmawati', ...properties },
  amount: 10_000,
  currency: 'IDR',
  ...changes,
});
const sendPayout = (body: object) => call('POST', '/v2/payouts', body, { 'idempotency-key': newId() });

describe('A payout', () => {
  test.each([
    ['without a name', payoutBody({}, { account_holder_name: undefined }), 'API_VALIDATION_ERROR'],
    ['with an empty name', payoutBody({}, { account_holder_name: '' }), 'API_VALIDATION_ERROR'],
    ['with a blank name', payoutBody({}, { account_holder_name: '  ' }), 'API_VALIDATION_ERROR'],
    ['with a name of 101 characters', payoutBody({}, { account_holder_name: 'x'.repeat(101) }), 'API_VALIDATION_ERROR'],
    ['to an unknown bank', payoutBody({ channel_code: 'ID_NOWHERE' }), 'CHANNEL_CODE_NOT_SUPPORTED'],
    ['of too little', payoutBody({ amount: 9_999 }), 'MINIMUM_TRANSFER_LIMIT_ERROR'],
    ['of too much', payoutBody({ amount: 250_000_001 }), 'MAXIMUM_TRANSFER_LIMIT_ERROR'],
    ['with a name in a non-Latin script', payoutBody({}, { account_holder_name: 'Сити 🌸' }), 'API_VALIDATION_ERROR'],
    ['to a number too short for BRI', payoutBody({}, { account_number: '000100011111' }), 'API_VALIDATION_ERROR'],
    ['to a number too long for BCA', payoutBody({ channel_code: 'ID_BCA' }), 'API_VALIDATION_ERROR'],
    ['of a fraction of a rupiah', payoutBody({ amount: 10_000.5 }), 'API_VALIDATION_ERROR'],
    ['with an unknown field', payoutBody({ note: 'x' }), 'API_VALIDATION_ERROR'],
    ['with an unknown property', payoutBody({}, { branch: 'x' }), 'API_VALIDATION_ERROR'],
    ['to a wallet without a mobile number', payoutBody({ channel_code: 'ID_OVO' }), 'API_VALIDATION_ERROR'],
  ])('A sandbox payout %s is refused, and nothing is created', async (_, body, error_code) => {
    expect(await sendPayout(body)).toMatchObject({ status: 400, body: { error_code } });
    const records = await sandbox.get(`/sandbox/records?reference_id=${body.reference_id}`);
    expect(records.body.transfers).toEqual([]);
  });

  test('A sandbox payout at the limits of name length and amount is accepted', async () => {
    for (const name of ['x', 'x'.repeat(100)]) {
      for (const amount of [10_000, 250_000_000]) {
        expect((await sendPayout(payoutBody({ amount }, { account_holder_name: name }))).status).toBe(200);
      }
    }
    const wallet = payoutBody({ channel_code: 'ID_DANA' }, { account_number: '081234567890' });
    expect((await sendPayout(wallet)).status).toBe(200);
  });

  test('Sandbox payout channels can be listed by the SDK, with their limits', async () => {
    const payouts = new Payout({ secretKey, xenditURL: sandbox.url });
    const all = await payouts.getPayoutChannels({ currency: 'IDR' });
    expect(all.length).toBeGreaterThan(30);
    const [bri, ...others] = await payouts.getPayoutChannels({ channelCode: 'ID_BRI' });
    expect(others).toEqual([]);
    expect(bri).toMatchObject({
      channelCode: 'ID_BRI',
      channelCategory: 'BANK',
      currency: 'IDR',
      amountLimits: { minimum: 10_000, maximum: 250_000_000, minimumIncrement: 1 },
    });
    const wallets = await payouts.getPayoutChannels({ channelCategory: ['EWALLET'] });
    expect(wallets.map(({ channelCode }) => channelCode)).toContain('ID_OVO');
    expect(wallets.every(({ channelCategory }) => channelCategory === 'EWALLET')).toBe(true);
  });

  test('A sandbox payout that waits for an operator is on the sandbox page and can be settled there', async () => {
    const { body } = await sendPayout(
      payoutBody({}, { account_number: '0001000131313', account_holder_name: '<b>Siti' }),
    );
    // It must be shown even after many later payouts.
    await Promise.all(Array.from({ length: 21 }, () => sendPayout(payoutBody())));
    const list = await (await fetch(`${sandbox.url}/`)).text();
    expect(list).toContain(`/payouts/${body.id}`);
    expect(list).toContain('waits for you');
    expect(list).toContain('Bank Rakyat Indonesia');
    expect(list).toMatch(/\d+ older ones are not shown/);
    const read = async () => (await fetch(`${sandbox.url}/payouts/${body.id}`)).text();
    expect(await read()).toContain('&lt;b&gt;Siti');
    expect(await read()).toContain('This payout is accepted');
    const press = (status: string) =>
      fetch(`${sandbox.url}/payouts/${body.id}`, {
        method: 'POST',
        body: new URLSearchParams({ status }),
        redirect: 'manual',
      });
    expect((await press('LOST')).status).toBe(400);
    expect((await press('FAILED')).status).toBe(303);
    expect(await read()).toContain('This payout is failed (REJECTED_BY_CHANNEL)');
    expect((await fetch(`${sandbox.url}/payouts/disb-none`)).status).toBe(404);
  });
});

describe('A payment request', () => {
  test('A virtual account needs a name in Latin letters, and one of BCA accepts at most 60,000,000', async () => {
    const refused = { outcome: 'refused' };
    const ask = (channelCode: string, amount: string, name = 'Siti Rahmawati') =>
      sandbox.gateway.requestInstrument(buildInstrumentRequest({ channelCode, amount, customer: { name } }));
    expect(await ask('BCA', '60000001.0000')).toMatchObject(refused);
    expect(await ask('BRI', '60000001.0000')).toMatchObject({ outcome: 'accepted' });
    const open = await call('POST', '/v2/payment_methods', {
      type: 'VIRTUAL_ACCOUNT',
      reusability: 'MULTIPLE_USE',
      reference_id: newId(),
      virtual_account: { channel_code: 'BCA', channel_properties: { customer_name: 'Siti' }, currency: 'IDR' },
    });
    const simulate = (amount: number) =>
      call('POST', `/v2/payment_methods/${open.body.id}/payments/simulate`, { amount });
    expect(await simulate(60_000_001)).toMatchObject({
      status: 400,
      body: { error_code: 'MAXIMUM_AMOUNT_LIMIT_ERROR' },
    });
    expect((await simulate(60_000_000)).status).toBe(200);
    const named = { channel_code: 'BRI', channel_properties: { customer_name: 'Сити 🌸' }, currency: 'IDR' };
    const other = {
      type: 'VIRTUAL_ACCOUNT',
      reusability: 'MULTIPLE_USE',
      reference_id: newId(),
      virtual_account: named,
    };
    expect((await call('POST', '/v2/payment_methods', other)).status).toBe(400);
  });

  const wallet = (channel_code: string, channel_properties: object, changes: object = {}) => ({
    reference_id: newId(),
    amount: 20_000,
    currency: 'IDR',
    payment_method: { type: 'EWALLET', reusability: 'ONE_TIME_USE', ewallet: { channel_code, channel_properties } },
    ...changes,
  });
  const back = 'https://shop.example/back';

  test.each([
    ['with a return URL that is not https', wallet('DANA', { success_return_url: 'http://shop.example/back' })],
    ['with a return URL that is too long', wallet('DANA', { success_return_url: `${back}/${'x'.repeat(240)}` })],
    ['with a phone of another country', wallet('OVO', { mobile_number: '+81312345678' })],
    ['with a phone that begins with 0', wallet('DANA', { success_return_url: back, mobile_number: '081234567890' })],
    ['with an unknown field', wallet('DANA', { success_return_url: back }, { note: 'x' })],
    ['with an unknown property', wallet('DANA', { success_return_url: back, email: 'a@example.org' })],
  ])('A sandbox e-wallet request %s is refused', async (_, body) => {
    const answer = await call('POST', '/payment_requests', body, { 'idempotency-key': newId() });
    expect(answer).toMatchObject({ status: 400, body: { error_code: 'API_VALIDATION_ERROR' } });
  });

  test('The SDK’s payment simulation pays a sandbox payment request', async () => {
    const answer = await sandbox.gateway.requestInstrument(buildInstrumentRequest());
    if (answer.outcome !== 'accepted') throw new Error('refused');
    const methods = new PaymentMethod({ secretKey, xenditURL: sandbox.url });
    const paymentMethodId = answer.instrument.providerPaymentMethodId;
    await methods.simulatePayment({ paymentMethodId, data: { amount: 15_000 } });
    const found = await methods.getPaymentsByPaymentMethodId({ paymentMethodId });
    expect(found).toMatchObject({ data: [{ amount: 15_000, status: 'SUCCEEDED' }] });
  });
});

describe('The clock', () => {
  const advance = (seconds: number) => call('POST', '/sandbox/clock/advance', { seconds });

  test('Advancing the sandbox clock past a deadline expires the open request, and no later one', async () => {
    const request = buildInstrumentRequest();
    await sandbox.gateway.requestInstrument(request);
    expect((await advance(3_000)).body).toMatchObject({ seconds: 3_000, not_moved: expect.any(String) });
    expect((await sandbox.gateway.findInstrument(request.reference))?.status).toBe('waiting');
    await advance(700);
    expect((await sandbox.gateway.findInstrument(request.reference))?.status).toBe('expired');
    const later = buildInstrumentRequest();
    await sandbox.gateway.requestInstrument(later);
    expect((await sandbox.gateway.findInstrument(later.reference))?.status).toBe('waiting');
  });

  test('Advancing the sandbox clock triggers a later reversal and a delayed callback', async () => {
    await sandbox.setFaults({ callbacks: { delay_ms: 3_600_000 } });
    const request = buildTransferRequest({ accountNumber: '0000654321' });
    await sandbox.gateway.requestTransfer(request);
    const { body } = await advance(10);
    expect(body.moved.transfers).toBeGreaterThan(0);
    const reversed = await eventually(
      () => sandbox.gateway.findTransfer(request.reference),
      (transfer) => transfer?.status === 'reversed',
    );
    expect(reversed?.failureCode).toBe('REJECTED_BY_CHANNEL');
    const events = () => sandbox.receiver.of(request.reference);
    expect(events()).toEqual([]);
    await advance(3_600);
    await eventually(
      async () => events(),
      (seen) => seen.length === 2,
    );
    await sandbox.setFaults({});
  });

  test('The sandbox clock moves only forward, by whole seconds', async () => {
    for (const seconds of [0, -1, 0.5, 1e12]) expect((await advance(seconds)).status).toBe(400);
  });
});
