import { Balance, PaymentMethod, PaymentRequest, Payout } from 'xendit-node';
import type { PaymentRequestParameters } from 'xendit-node/payment_request/models/index.js';
import { readQris } from '../../dev/sandbox/qris.ts';
import { newId } from '../../src/shared/ids.ts';
import { openSandbox, secretKey } from './open-sandbox.ts';

/** Tests the sandbox with the provider's official SDK. */
let sandbox: Awaited<ReturnType<typeof openSandbox>>;
let sdk: { requests: PaymentRequest; methods: PaymentMethod; payouts: Payout; balance: Balance };

beforeAll(async () => {
  sandbox = await openSandbox();
  const options = { secretKey, xenditURL: sandbox.url };
  sdk = {
    requests: new PaymentRequest(options),
    methods: new PaymentMethod(options),
    payouts: new Payout(options),
    balance: new Balance(options),
  };
});
afterAll(() => sandbox.close());

const virtualAccount = (referenceId: string, bank: 'BCA' | 'BRI' = 'BCA'): PaymentRequestParameters => ({
  referenceId,
  amount: 15_000,
  currency: 'IDR',
  metadata: { sku: 'A-1' },
  paymentMethod: {
    type: 'VIRTUAL_ACCOUNT',
    reusability: 'ONE_TIME_USE',
    referenceId: `method-${referenceId}`,
    virtualAccount: {
      channelCode: bank,
      channelProperties: { customerName: 'Ahmad Gunawan', expiresAt: new Date(Date.now() + 3_600_000) },
    },
  },
});

const errorOf = async (call: Promise<unknown>) =>
  call.then(
    () => {
      throw new Error('was not refused');
    },
    (error: { status: unknown; errorCode: unknown }) => ({ status: error.status, errorCode: error.errorCode }),
  );

describe('The sandbox through the official SDK', () => {
  test('A sandbox payment request is created, read by its id and listed by its reference', async () => {
    const reference = newId();
    const created = await sdk.requests.createPaymentRequest({ data: virtualAccount(reference) });
    expect(created).toMatchObject({
      referenceId: reference,
      amount: 15_000,
      currency: 'IDR',
      country: 'ID',
      status: 'PENDING',
      metadata: { sku: 'A-1' },
      paymentMethod: { type: 'VIRTUAL_ACCOUNT', reusability: 'ONE_TIME_USE', status: 'ACTIVE' },
    });
    expect(created.paymentMethod.virtualAccount?.channelProperties.virtualAccountNumber).toMatch(/^10766\d{11}$/);
    expect(await sdk.requests.getPaymentRequestByID({ paymentRequestId: created.id })).toEqual(created);
    const list = await sdk.requests.getAllPaymentRequests({ referenceId: [reference] });
    expect(list).toEqual({ data: [created], hasMore: false });
  });

  test('A sandbox payment method is found by its id and by its own reference', async () => {
    const reference = newId();
    const { paymentMethod } = await sdk.requests.createPaymentRequest({ data: virtualAccount(reference, 'BRI') });
    const method = await sdk.methods.getPaymentMethodByID({ paymentMethodId: paymentMethod.id });
    expect(method).toMatchObject({ id: paymentMethod.id, referenceId: `method-${reference}`, status: 'ACTIVE' });
    const list = await sdk.methods.getAllPaymentMethods({ referenceId: `method-${reference}` });
    expect(list.data.map(({ id }) => id)).toEqual([paymentMethod.id]);
  });

  test('A QR code contains the amount, and an e-wallet its checkout actions', async () => {
    const qr = await sdk.requests.createPaymentRequest({
      data: {
        amount: 23_000,
        currency: 'IDR',
        paymentMethod: { type: 'QR_CODE', reusability: 'ONE_TIME_USE', qrCode: { channelCode: 'QRIS' } },
      },
    });
    expect(readQris(qr.paymentMethod.qrCode?.channelProperties?.qrString ?? '')?.get('54')).toBe('23000');
    const wallet = await sdk.requests.createPaymentRequest({
      data: {
        amount: 23_000,
        currency: 'IDR',
        paymentMethod: {
          type: 'EWALLET',
          reusability: 'ONE_TIME_USE',
          ewallet: { channelCode: 'DANA', channelProperties: { successReturnUrl: 'https://example.com/done' } },
        },
      },
    });
    expect(wallet.status).toBe('REQUIRES_ACTION');
    expect(wallet.actions?.[0]).toMatchObject({
      action: 'AUTH',
      urlType: 'WEB',
      url: `${sandbox.url}/checkout/${wallet.id}`,
    });
  });

  test('The same idempotency key returns the same request, or a 409 for another body', async () => {
    const idempotencyKey = newId();
    const data = virtualAccount(idempotencyKey);
    const first = await sdk.requests.createPaymentRequest({ idempotencyKey, data });
    const again = await sdk.requests.createPaymentRequest({ idempotencyKey, data });
    expect(again).toEqual(first);
    const other = sdk.requests.createPaymentRequest({ idempotencyKey, data: { ...data, amount: 15_001 } });
    expect(await errorOf(other)).toEqual({ status: 409, errorCode: 'DUPLICATE_ERROR' });
    expect((await sdk.requests.getAllPaymentRequests({ referenceId: [idempotencyKey] })).data).toHaveLength(1);
  });

  test('Payments are separate objects under the payment method, listed in pages', async () => {
    const { id, paymentMethod } = await sdk.requests.createPaymentRequest({ data: virtualAccount(newId()) });
    for (const amount of [15_000, 1_000, 15_000]) await sandbox.pay(id, amount);
    const all: { data?: object[]; has_more?: boolean } = await sdk.methods.getPaymentsByPaymentMethodId({
      paymentMethodId: paymentMethod.id,
    });
    expect(all.data).toHaveLength(3);
    expect(all.data?.[2]).toMatchObject({ amount: 15_000, status: 'SUCCEEDED', payment_request_id: id });
    const page: { data?: object[]; has_more?: boolean } = await sdk.methods.getPaymentsByPaymentMethodId({
      paymentMethodId: paymentMethod.id,
      limit: 2,
    });
    expect(page).toMatchObject({ data: [{}, {}], has_more: true });
  });

  test('A payment method expires once; a second expiry is refused', async () => {
    const { id, paymentMethod } = await sdk.requests.createPaymentRequest({ data: virtualAccount(newId()) });
    const paymentMethodId = paymentMethod.id;
    expect((await sdk.methods.expirePaymentMethod({ paymentMethodId, data: {} })).status).toBe('EXPIRED');
    expect((await sdk.requests.getPaymentRequestByID({ paymentRequestId: id })).status).toBe('EXPIRED');
    const again = await errorOf(sdk.methods.expirePaymentMethod({ paymentMethodId, data: {} }));
    expect(again).toEqual({ status: 400, errorCode: 'INACTIVE_PAYMENT_METHOD' });
  });

  test('A sandbox payout is created once per key, found by id and reference, and can be cancelled', async () => {
    const referenceId = newId();
    const data = {
      referenceId,
      channelCode: 'ID_BRI',
      channelProperties: { accountNumber: '1234567131313', accountHolderName: 'Ahmad Gunawan' },
      amount: 90_000,
      description: 'July',
      currency: 'IDR',
    };
    const created = await sdk.payouts.createPayout({ idempotencyKey: referenceId, data });
    expect(created).toMatchObject({ ...data, status: 'ACCEPTED' });
    expect(await sdk.payouts.createPayout({ idempotencyKey: referenceId, data })).toEqual(created);
    const other = sdk.payouts.createPayout({ idempotencyKey: referenceId, data: { ...data, amount: 91_000 } });
    expect(await errorOf(other)).toEqual({ status: 409, errorCode: 'DUPLICATE_ERROR' });
    expect(await sdk.payouts.getPayoutById({ id: created.id })).toEqual(created);
    expect((await sdk.payouts.getPayouts({ referenceId })).data).toEqual([created]);
    expect((await sdk.payouts.cancelPayout({ id: created.id })).status).toBe('CANCELLED');
    expect((await errorOf(sdk.payouts.cancelPayout({ id: created.id }))).status).toBe(400);
  });

  test('The sandbox’s balance grows with payments', async () => {
    const before = (await sdk.balance.getBalance({ accountType: 'CASH', currency: 'IDR' })).balance;
    const { id } = await sdk.requests.createPaymentRequest({ data: virtualAccount(newId()) });
    await sandbox.pay(id);
    expect((await sdk.balance.getBalance()).balance).toBe(before + 15_000);
  });

  test('The sandbox returns 404 for unknown ids, 401 for a wrong key and 400 for a malformed body', async () => {
    const unknown = await errorOf(sdk.requests.getPaymentRequestByID({ paymentRequestId: 'pr-none' }));
    expect(unknown).toEqual({ status: 404, errorCode: 'DATA_NOT_FOUND' });
    expect((await errorOf(sdk.payouts.getPayoutById({ id: 'disb-none' }))).status).toBe(404);
    const stranger = new Balance({ secretKey: 'xnd_development_other', xenditURL: sandbox.url });
    expect(await errorOf(stranger.getBalance())).toEqual({ status: 401, errorCode: 'INVALID_API_KEY' });
    const fraction = sdk.requests.createPaymentRequest({ data: { ...virtualAccount(newId()), amount: 0.5 } });
    expect(await errorOf(fraction)).toEqual({ status: 400, errorCode: 'API_VALIDATION_ERROR' });
  });
});
