import { createXenditGateway } from '../../src/gateway/xendit/create-xendit-gateway.ts';

const callbackToken = 'the-token-that-was-agreed-upon';
const gateway = createXenditGateway({ secretKey: 'xnd_development_x', url: 'http://127.0.0.1:9', callbackToken });

const callback = (event: string, data: unknown) => ({
  event,
  business_id: '5f27a14a9bf05c73dd040bc8',
  created: '2026-01-01T00:00:00.000Z',
  data,
});

describe('reading a callback', () => {
  test.each(['payment.succeeded', 'payment.failed', 'payment.pending'])('%s names the payment', (event) => {
    const data = {
      id: 'py-1',
      payment_request_id: 'pr-1',
      reference_id: 'order-1',
      amount: 15_000,
      payment_method: { id: 'pm-1', type: 'QR_CODE' },
    };
    expect(gateway.readCallback(callback(event, data))).toEqual({
      kind: 'payment',
      event,
      reference: 'order-1',
      providerPaymentId: 'py-1',
      providerPaymentRequestId: 'pr-1',
      providerPaymentMethodId: 'pm-1',
      providerTransferId: null,
    });
  });

  test.each(['payment_method.expired', 'payment_method.activated'])('%s names the payment method', (event) => {
    expect(gateway.readCallback(callback(event, { id: 'pm-1', reference_id: 'order-1', status: 'X' }))).toEqual({
      kind: 'payment_method',
      event,
      reference: 'order-1',
      providerPaymentId: null,
      providerPaymentRequestId: null,
      providerPaymentMethodId: 'pm-1',
      providerTransferId: null,
    });
  });

  test.each(['payout.succeeded', 'payout.failed', 'payout.reversed'])('%s names the transfer', (event) => {
    expect(gateway.readCallback(callback(event, { id: 'disb-1', reference_id: 'payout-1', status: 'X' }))).toEqual({
      kind: 'transfer',
      event,
      reference: 'payout-1',
      providerPaymentId: null,
      providerPaymentRequestId: null,
      providerPaymentMethodId: null,
      providerTransferId: 'disb-1',
    });
  });

  test('events of others concern nobody here', () => {
    expect(gateway.readCallback(callback('refund.succeeded', { id: 'rfd-1' }))).toBeNull();
    expect(gateway.readCallback(callback('constructor.call', {}))).toBeNull();
  });

  test.each([
    ['nothing', undefined],
    ['a text', 'payment.succeeded'],
    ['a list', []],
    ['no event', { data: {} }],
    ['no data', { event: 'payment.succeeded' }],
    ['no reference', callback('payout.failed', { id: 'disb-1' })],
    ['a number for an id', callback('payment.succeeded', { id: 1, reference_id: 'order-1' })],
  ])('%s is malformed', (_, body) => {
    expect(() => gateway.readCallback(body)).toThrow(expect.objectContaining({ code: 'REQUEST_INVALID' }));
  });

  test('the refusal names fields, not what stood in them', () => {
    const body = callback('payout.failed', { id: 'disb-1', reference_id: 4_111 });
    expect(() => gateway.readCallback(body)).toThrow('not a callback of the provider: reference_id');
  });
});

describe('the callback token', () => {
  test('only the right one is right, whatever the length of the others', () => {
    expect(gateway.isCallbackToken(callbackToken)).toBe(true);
    for (const wrong of [
      undefined,
      '',
      'x',
      `${callbackToken}x`,
      callbackToken.slice(1),
      callbackToken.toUpperCase(),
    ]) {
      expect(gateway.isCallbackToken(wrong)).toBe(false);
    }
  });
});
