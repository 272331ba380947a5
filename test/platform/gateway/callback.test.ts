import { createXenditGateway } from '../../../src/platform/gateway/xendit/create-xendit-gateway.ts';

const callbackToken = 'the-token-that-was-agreed-upon';
const gateway = createXenditGateway({ secretKey: 'xnd_development_x', url: 'http://127.0.0.1:9', callbackToken });

const read = (body: unknown) => gateway.readCallback(Buffer.from(JSON.stringify(body) ?? ''));

const callback = (event: string, data: unknown) => ({
  event,
  business_id: '5f27a14a9bf05c73dd040bc8',
  created: '2026-01-01T00:00:00.000Z',
  data,
});

describe('Parsing callbacks', () => {
  test.each(['payment.succeeded', 'payment.failed', 'payment.pending'])('A callback %s names the payment', (event) => {
    const data = {
      id: 'py-1',
      payment_request_id: 'pr-1',
      reference_id: 'order-1',
      amount: 15_000,
      payment_method: { id: 'pm-1', type: 'QR_CODE' },
    };
    expect(read(callback(event, data)).hint).toEqual({
      kind: 'payment',
      event,
      reference: 'order-1',
      providerPaymentId: 'py-1',
      providerPaymentRequestId: 'pr-1',
      providerPaymentMethodId: 'pm-1',
      providerTransferId: null,
    });
  });

  test.each(['payment_method.expired', 'payment_method.activated'])(
    'A callback %s names the payment method',
    (event) => {
      expect(read(callback(event, { id: 'pm-1', reference_id: 'order-1', status: 'X' })).hint).toEqual({
        kind: 'payment_method',
        event,
        reference: 'order-1',
        providerPaymentId: null,
        providerPaymentRequestId: null,
        providerPaymentMethodId: 'pm-1',
        providerTransferId: null,
      });
    },
  );

  test.each(['payout.succeeded', 'payout.failed', 'payout.reversed'])('A callback %s names the transfer', (event) => {
    expect(read(callback(event, { id: 'disb-1', reference_id: 'payout-1', status: 'X' })).hint).toEqual({
      kind: 'transfer',
      event,
      reference: 'payout-1',
      providerPaymentId: null,
      providerPaymentRequestId: null,
      providerPaymentMethodId: null,
      providerTransferId: 'disb-1',
    });
  });

  test.each([
    ['nothing', undefined, 'the body is empty'],
    ['a text', 'payment.succeeded', 'misshapen: body'],
    ['a list', [], 'misshapen: body'],
    ['no event', { data: {} }, 'misshapen: event'],
    ['no data', { event: 'payment.succeeded' }, 'misshapen: data'],
    ['no reference', callback('payout.failed', { id: 'disb-1' }), 'misshapen: data.reference_id'],
    ['a number for an id', callback('payment.succeeded', { id: 1, reference_id: 'order-1' }), 'misshapen: data.id'],
    ['an unknown event', callback('report.ready', { id: 'rpt-1' }), 'unknown event: report.ready'],
    ['the name of a method', callback('constructor.call', {}), 'unknown event: constructor.call'],
    [
      'a number for a reference',
      callback('payout.failed', { id: 'disb-1', reference_id: 4_111 }),
      'misshapen: data.reference_id',
    ],
  ])('A callback with %s is unreadable, and the reason names fields, not their values', (_, body, unread) => {
    expect(read(body)).toEqual({ hint: null, unread });
  });
});

describe('The callback token', () => {
  test('The callback token is compared exactly, whatever the length of the value sent', () => {
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
