import type { Gateway } from '../../../src/platform/gateway/gateway.ts';
import { createXenditGateway } from '../../../src/platform/gateway/xendit/create-xendit-gateway.ts';
import { buildInstrumentRequest, buildTransferRequest } from '../../sandbox/open-sandbox.ts';
import { openStubProvider, type StubAnswer } from './stub-provider.ts';

/** How the adapter classifies each answer, and a missing one: accepted, refused or unknown. */
let provider: Awaited<ReturnType<typeof openStubProvider>>;
let gateway: Gateway;
const options = { secretKey: 'xnd_development_outcomes', callbackToken: 'a-callback-token', timeoutMs: 20_000 };
/** For requests that are never answered. */
const impatient = { ...options, timeoutMs: 300 };

beforeAll(async () => {
  provider = await openStubProvider();
  gateway = createXenditGateway({ ...options, url: provider.url });
});
afterAll(() => provider.close());

const unknown = { code: 'PROVIDER_UNKNOWN' };
const refundRequest = { reference: 'RF-1', refundOf: 'pr-1', amount: '20000.0000' };
const payout = (reference: string, status: string, failure_code?: string) => ({
  id: 'disb-1',
  reference_id: reference,
  channel_code: 'ID_BCA',
  channel_properties: { account_number: '1234567890' },
  amount: 25_000,
  currency: 'IDR',
  created: '2026-01-01T00:00:00Z',
  updated: '2026-01-01T00:00:00Z',
  business_id: 'b',
  status,
  ...(failure_code === undefined ? {} : { failure_code }),
});

describe('Definite refusals by the provider', () => {
  test.each([400, 402, 403, 404, 422])(
    'A %d from the provider with an error code is a refusal with that code',
    async (status) => {
      provider.answer(() => ({ status, body: { error_code: 'CHANNEL_NOT_ACTIVATED', message: 'not for you' } }));
      const refused = { outcome: 'refused', code: 'CHANNEL_NOT_ACTIVATED', message: 'not for you' };
      expect(await gateway.requestInstrument(buildInstrumentRequest())).toEqual(refused);
      expect(await gateway.requestTransfer(buildTransferRequest())).toEqual(refused);
      expect(await gateway.requestTransfer(refundRequest)).toEqual(refused);
    },
  );

  test('A channel or bank that the provider does not support is refused without a call', async () => {
    provider.answer(() => null);
    const request = buildInstrumentRequest({ method: 'ewallet', channelCode: 'GOPAY' });
    expect(await gateway.requestInstrument(request)).toMatchObject({ outcome: 'refused' });
    expect(await gateway.requestTransfer(buildTransferRequest({ bankCode: 'ABC' }))).toMatchObject({
      outcome: 'refused',
    });
    expect(provider.seen).toEqual([]);
  });

  test.each(['FEATURE_NOT_ACTIVATED', 'OPERATION_NOT_ALLOWED', 'ACCOUNT_ACCESS_BLOCKED', 'DENIED_PERSON_LIST_MATCHED'])(
    'A 403 with the code %s is a refusal',
    async (error_code) => {
      provider.answer(() => ({ status: 403, body: { error_code, message: 'no' } }));
      const refused = { outcome: 'refused', code: error_code };
      expect(await gateway.requestInstrument(buildInstrumentRequest())).toMatchObject(refused);
      expect(await gateway.requestTransfer(buildTransferRequest())).toMatchObject(refused);
      expect(await gateway.requestTransfer(refundRequest)).toMatchObject(refused);
    },
  );
});

test('A refund rejected because another is in progress counts as never sent', async () => {
  provider.answer(() => ({ status: 400, body: { error_code: 'REFUND_IN_PROGRESS', message: 'wait' } }));
  await expect(gateway.requestTransfer(refundRequest)).rejects.toMatchObject({ ...unknown, neverSent: true });
});

test('A refund is looked up on every page of the payment’s refunds', async () => {
  const page = (from: number) =>
    Array.from({ length: 50 }, (_, index) => ({
      id: `rfd-${from + index}`,
      reference_id: `RF-${from + index}`,
      amount: 1,
      status: 'SUCCEEDED',
    }));
  provider.answer(({ url }) => {
    const isLast = url.includes('after_id=rfd-49');
    return { status: 200, body: { data: page(isLast ? 50 : 0), has_more: !isLast } };
  });
  expect(await gateway.findTransfer('RF-51', { refundOf: 'pr-1' })).toMatchObject({ status: 'succeeded' });
  expect(provider.seen).toHaveLength(2);
});

describe('Responses that leave the outcome unknown', () => {
  const answers: [string, StubAnswer][] = [
    ['a 500', { status: 500, body: { error_code: 'SERVER_ERROR' } }],
    ['a 503', { status: 503, body: { error_code: 'CHANNEL_UNAVAILABLE' } }],
    ['a 502 that is not JSON', { status: 502, body: '<html>Bad gateway</html>' }],
    ['a 400 that is not JSON', { status: 400, body: '<html>Bad request</html>' }],
    ['a 403 of an intermediary', { status: 403, body: { message: 'blocked' } }],
    ['a 403 with an intermediary’s code', { status: 403, body: { error_code: 'WAF_BLOCKED' } }],
    ['a 403 about unspecified access', { status: 403, body: { error_code: 'UNAUTHORIZED' } }],
    ['a 408', { status: 408, body: { error_code: 'TIMEOUT' } }],
    ['a 409, which may mean that the key is used,', { status: 409, body: { error_code: 'DUPLICATE_ERROR' } }],
    ['a 400 that says the key is used', { status: 400, body: { error_code: 'DUPLICATE_TRANSACTION_ERROR' } }],
    ['a 425', { status: 425, body: { error_code: 'TOO_EARLY' } }],
    ['a 429', { status: 429, body: { error_code: 'RATE_LIMIT_EXCEEDED' } }],
    ['a 429 of an intermediary', { status: 429, body: 'slow down' }],
    ['a redirect', { status: 307, body: {}, headers: { location: 'http://127.0.0.1:9/' } }],
    ['a 200 that is not JSON', { status: 200, body: 'ok' }],
    ['a 200 without the payment', { status: 200, body: {} }],
  ];

  test.each(answers)('The outcome after %s is unknown', async (_, answer) => {
    provider.answer(() => answer);
    await expect(gateway.requestInstrument(buildInstrumentRequest())).rejects.toMatchObject(unknown);
    await expect(gateway.requestTransfer(buildTransferRequest())).rejects.toMatchObject(unknown);
    await expect(gateway.requestTransfer(refundRequest)).rejects.toMatchObject(unknown);
  });

  test.each([
    [401, 'INVALID_API_KEY'],
    [401, 'ANYTHING'],
    [403, 'REQUEST_FORBIDDEN_ERROR'],
  ])('A %d %s concerns our API key: the request counts as never sent', async (status, error_code) => {
    provider.answer(() => ({ status, body: { error_code, message: 'not you' } }));
    const ours = { ...unknown, neverSent: true };
    await expect(gateway.requestInstrument(buildInstrumentRequest())).rejects.toMatchObject(ours);
    await expect(gateway.requestTransfer(buildTransferRequest())).rejects.toMatchObject(ours);
    await expect(gateway.requestTransfer(refundRequest)).rejects.toMatchObject(ours);
  });

  test('A call that times out has an unknown outcome', async () => {
    provider.answer(() => null);
    const startedAt = Date.now();
    const hurried = createXenditGateway({ ...impatient, url: provider.url });
    await expect(hurried.requestTransfer(buildTransferRequest())).rejects.toMatchObject(unknown);
    expect(Date.now() - startedAt).toBeLessThan(10_000);
  });

  test('A call whose response body never ends has an unknown outcome', async () => {
    const stuck: typeof fetch = async (_, init) =>
      new Response(
        new ReadableStream({
          start(controller) {
            init?.signal?.addEventListener('abort', () => controller.error(init.signal?.reason));
          },
        }),
      );
    const slow = createXenditGateway({ ...impatient, url: provider.url, fetch: stuck });
    await expect(slow.requestTransfer(buildTransferRequest())).rejects.toMatchObject(unknown);
  });

  test('A call aborted before or while it runs has an unknown outcome', async () => {
    const patient = createXenditGateway({ ...options, url: provider.url, timeoutMs: 60_000 });
    provider.answer(() => null);
    const signal = AbortSignal.timeout(100);
    await expect(patient.requestTransfer(buildTransferRequest(), { signal })).rejects.toMatchObject(unknown);
    await expect(patient.findTransfer('any', { signal })).rejects.toMatchObject(unknown);
  });

  test('A call to an unreachable server has an unknown outcome', async () => {
    const lost = createXenditGateway({ ...options, url: 'http://127.0.0.1:9' });
    await expect(lost.requestInstrument(buildInstrumentRequest())).rejects.toMatchObject(unknown);
    await expect(lost.readBalance()).rejects.toMatchObject(unknown);
  });

  test('A response for another reference or amount leaves the outcome unknown', async () => {
    provider.answer(() => ({ status: 200, body: payout('another', 'ACCEPTED') }));
    await expect(gateway.requestTransfer(buildTransferRequest())).rejects.toMatchObject(unknown);
    const request = buildTransferRequest({ amount: '24999' });
    provider.answer(() => ({ status: 200, body: payout(request.reference, 'ACCEPTED') }));
    await expect(gateway.requestTransfer(request)).rejects.toMatchObject(unknown);
  });

  test('An error does not repeat the provider’s message, which may contain personal data', async () => {
    provider.answer(() => ({ status: 500, body: { error_code: 'SERVER_ERROR', message: 'Siti 1234567890' } }));
    const error = await gateway.requestTransfer(buildTransferRequest()).catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ message: 'request transfer: the provider answered 500 SERVER_ERROR' });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('Siti');
  });
});

describe('Look-ups at the provider', () => {
  test('Only an empty list or DATA_NOT_FOUND proves that a resource does not exist', async () => {
    provider.answer(() => ({ status: 200, body: { data: [], has_more: false } }));
    expect(await gateway.findTransfer('a')).toBeNull();
    expect(await gateway.findInstrument('a')).toBeNull();
    provider.answer(() => ({ status: 404, body: { error_code: 'DATA_NOT_FOUND' } }));
    expect(await gateway.findTransfer('a')).toBeNull();
    expect(await gateway.findPayment('pm-1', 'py-1')).toBeNull();
    for (const [status, body] of [
      [401, { error_code: 'INVALID_API_KEY' }],
      [404, { message: 'no such path' }],
      [200, {}],
      [500, {}],
    ] as const) {
      provider.answer(() => ({ status, body }));
      await expect(gateway.findTransfer('a')).rejects.toMatchObject(unknown);
      await expect(gateway.findInstrument('a')).rejects.toMatchObject(unknown);
    }
  });

  test('An instrument whose payments cannot be looked up has an unknown status', async () => {
    const virtual_account = { channel_code: 'BRI', channel_properties: { virtual_account_number: '92001' } };
    const payment_method = { id: 'pm-1', type: 'VIRTUAL_ACCOUNT', status: 'ACTIVE', virtual_account };
    const request = { id: 'pr-1', reference_id: 'ours', amount: 15_000, status: 'PENDING', payment_method };
    provider.answer(({ url }) =>
      url.startsWith('/v2/payment_methods/')
        ? { status: 404, body: { error_code: 'DATA_NOT_FOUND', message: 'not found' } }
        : { status: 200, body: { data: [request], has_more: false } },
    );
    await expect(gateway.findInstrument('ours')).rejects.toMatchObject(unknown);
  });

  test('A look-up ignores listed transfers with another reference', async () => {
    provider.answer(() => ({ status: 200, body: { data: [payout('another', 'SUCCEEDED')] } }));
    expect(await gateway.findTransfer('ours')).toBeNull();
  });

  test.each([
    ['ACCEPTED', 'accepted', null],
    ['REQUESTED', 'accepted', null],
    ['LOCKED', 'accepted', null],
    ['SUCCEEDED', 'succeeded', null],
    ['FAILED', 'failed', 'TRANSFER_ERROR'],
    ['CANCELLED', 'failed', 'CANCELLED'],
    ['REVERSED', 'reversed', null],
  ])('A payout that is %s at the provider counts as %s', async (status, expected, failureCode) => {
    const code = status === 'FAILED' ? 'TRANSFER_ERROR' : undefined;
    provider.answer(() => ({ status: 200, body: { data: [payout('ours', status, code)] } }));
    expect(await gateway.findTransfer('ours')).toEqual({
      providerTransferId: 'disb-1',
      reference: 'ours',
      amount: '25000.0000',
      status: expected,
      failureCode,
      createdAt: expect.any(Date),
      further: [],
    });
  });

  test('A transfer with an unrecognized status has an unknown outcome, and has not failed', async () => {
    provider.answer(() => ({ status: 200, body: { data: [payout('ours', 'ROUTING')] } }));
    await expect(gateway.findTransfer('ours')).rejects.toMatchObject(unknown);
  });

  test('Of two transfers under one reference, the one that may have moved money is reported', async () => {
    const two = [payout('ours', 'FAILED', 'TRANSFER_ERROR'), { ...payout('ours', 'SUCCEEDED'), id: 'disb-2' }];
    provider.answer(() => ({ status: 200, body: { data: two } }));
    expect(await gateway.findTransfer('ours')).toMatchObject({ providerTransferId: 'disb-2', status: 'succeeded' });
  });
});

describe('Instrument statuses at the provider', () => {
  const asked = (status: string, methodStatus: string, payments: object[] = []) => {
    provider.answer(({ url }) => {
      if (url.startsWith('/v2/payment_methods/')) return { status: 200, body: { data: payments, has_more: false } };
      const virtual_account = { channel_code: 'BRI', channel_properties: { virtual_account_number: '92001' } };
      const payment_method = {
        id: 'pm-1',
        type: 'VIRTUAL_ACCOUNT',
        reusability: 'ONE_TIME_USE',
        status: methodStatus,
        virtual_account,
      };
      const request = { id: 'pr-1', reference_id: 'ours', amount: 15_000, currency: 'IDR', status, payment_method };
      return { status: 200, body: { data: [request], has_more: false } };
    });
    return gateway.findInstrument('ours');
  };
  const payment = (amount: number) => ({
    id: 'py-1',
    reference_id: 'ours',
    amount,
    status: 'SUCCEEDED',
    created: '2026-01-01T00:00:00Z',
  });

  test.each([
    ['PENDING', 'ACTIVE', 'waiting'],
    ['REQUIRES_ACTION', 'PENDING', 'waiting'],
    ['AWAITING_CAPTURE', 'ACTIVE', 'waiting'],
    ['SUCCEEDED', 'EXPIRED', 'paid'],
    ['FAILED', 'FAILED', 'failed'],
    ['EXPIRED', 'EXPIRED', 'expired'],
    ['CANCELED', 'EXPIRED', 'expired'],
    ['VOIDED', 'INACTIVE', 'expired'],
    ['PENDING', 'EXPIRED', 'expired'],
  ])(
    'A payment request that is %s on a payment method that is %s counts as %s',
    async (status, methodStatus, expected) => {
      expect(await asked(status, methodStatus)).toMatchObject({ status: expected });
    },
  );

  test('An expired payment method with a full payment does not count as expired', async () => {
    expect(await asked('PENDING', 'EXPIRED', [payment(15_000)])).toMatchObject({ status: 'waiting' });
    expect(await asked('PENDING', 'EXPIRED', [payment(14_000)])).toMatchObject({ status: 'expired' });
  });

  test.each(['UNKNOWN', 'SOMETHING_NEW'])('A payment request that is %s has an unknown status', async (status) => {
    await expect(asked(status, 'ACTIVE')).rejects.toMatchObject(unknown);
  });

  test('An instrument with an invalid payment amount has an unknown status', async () => {
    await expect(asked('PENDING', 'ACTIVE', [payment(0.00001)])).rejects.toMatchObject(unknown);
  });
});

describe('Requests to the provider', () => {
  test('A transfer request has its reference as idempotency key, the provider’s bank code and whole rupiah', async () => {
    const request = buildTransferRequest({ bankCode: 'MANDIRI' });
    provider.answer(() => ({ status: 200, body: payout(request.reference, 'ACCEPTED') }));
    await gateway.requestTransfer(request);
    expect(provider.seen).toHaveLength(1);
    expect(provider.seen[0]).toMatchObject({
      method: 'POST',
      url: '/v2/payouts',
      headers: {
        'idempotency-key': request.reference,
        authorization: `Basic ${Buffer.from(`${options.secretKey}:`).toString('base64')}`,
      },
      body: {
        reference_id: request.reference,
        channel_code: 'ID_MANDIRI',
        channel_properties: { account_number: '1234567890', account_holder_name: 'Siti Rahmawati' },
        amount: 25_000,
        currency: 'IDR',
        description: 'Payout',
      },
    });
  });

  test('Every attempt for one instrument sends the same body', async () => {
    const request = buildInstrumentRequest({ customer: { name: 'Årni   Ó’Brien, S.H.' } });
    provider.answer(() => ({ status: 500, body: {} }));
    await gateway.requestInstrument(request).catch(() => {});
    await gateway.requestInstrument(request).catch(() => {});
    expect(provider.seen[0]?.body).toEqual(provider.seen[1]?.body);
    expect(provider.seen[0]).toMatchObject({
      url: '/payment_requests',
      headers: { 'idempotency-key': request.reference },
      body: {
        reference_id: request.reference,
        amount: 15_000,
        currency: 'IDR',
        payment_method: {
          type: 'VIRTUAL_ACCOUNT',
          reusability: 'ONE_TIME_USE',
          reference_id: request.reference,
          virtual_account: {
            channel_code: 'BRI',
            channel_properties: { customer_name: "Arni O'Brien, S.H.", expires_at: request.expiresAt.toISOString() },
          },
        },
      },
    });
  });

  test('An OVO request has the return URL and the phone number in international format', async () => {
    provider.answer(() => ({ status: 500, body: {} }));
    const request = buildInstrumentRequest({ method: 'ewallet', channelCode: 'OVO' });
    await gateway.requestInstrument(request).catch(() => {});
    expect(provider.seen[0]?.body).toMatchObject({
      payment_method: {
        type: 'EWALLET',
        ewallet: {
          channel_code: 'OVO',
          channel_properties: { mobile_number: '+6281234567890', success_return_url: request.returnUrl },
        },
      },
    });
  });

  test('A fraction of a rupiah, zero and negative amounts are never sent', async () => {
    provider.answer(() => null);
    for (const amount of ['100.5000', '0', '-1']) {
      await expect(gateway.requestTransfer(buildTransferRequest({ amount }))).rejects.toThrow(RangeError);
      await expect(gateway.requestInstrument(buildInstrumentRequest({ amount }))).rejects.toThrow(RangeError);
    }
    expect(provider.seen).toEqual([]);
  });
});
