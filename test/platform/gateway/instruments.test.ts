import type { InstrumentRequest } from '../../../src/platform/gateway/gateway.ts';
import { createXenditGateway } from '../../../src/platform/gateway/xendit/create-xendit-gateway.ts';
import { buildInstrumentRequest, callbackToken, openSandbox, secretKey } from '../../sandbox/open-sandbox.ts';

let sandbox: Awaited<ReturnType<typeof openSandbox>>;
beforeAll(async () => {
  sandbox = await openSandbox();
});
afterAll(() => sandbox.close());

async function issue(changes: Partial<InstrumentRequest> = {}) {
  const request = buildInstrumentRequest(changes);
  const answer = await sandbox.gateway.requestInstrument(request);
  if (answer.outcome !== 'accepted') throw new Error(answer.code);
  return { request, ...answer.instrument };
}

describe('Instruments at the provider', () => {
  test('A virtual account is created with its number and deadline, and found by its reference', async () => {
    const { request, ...instrument } = await issue();
    expect(instrument).toEqual({
      providerPaymentRequestId: expect.stringMatching(/^pr-/),
      providerPaymentMethodId: expect.stringMatching(/^pm-/),
      paymentCode: expect.stringMatching(/^92001\d{13}$/),
      expiresAt: request.expiresAt,
    });
    expect(await sandbox.gateway.findInstrument(request.reference)).toEqual({
      status: 'waiting',
      failureCode: null,
      instrument,
      payments: [],
    });
  });

  test('A brief instrument look-up loads payments only once the instrument is no longer waiting', async () => {
    const { request, paymentCode } = await issue();
    const { url } = sandbox;
    const calls: string[] = [];
    const gateway = createXenditGateway({
      secretKey,
      url,
      callbackToken,
      timeoutMs: 20_000,
      fetch: (input, init) => {
        calls.push(String(input instanceof Request ? input.url : input).slice(url.length));
        return fetch(input, init);
      },
    });
    expect(await gateway.findInstrument(request.reference, { briefly: true })).toEqual(
      await sandbox.gateway.findInstrument(request.reference),
    );
    expect(calls).toEqual([expect.stringMatching(/^\/payment_requests\?/)]);
    await sandbox.pay(paymentCode);
    expect(await gateway.findInstrument(request.reference, { briefly: true })).toMatchObject({
      status: 'paid',
      payments: [{ status: 'succeeded' }],
    });
    expect(calls).toHaveLength(3);
  });

  test('A repeated request under the same reference returns the same instrument', async () => {
    const { request, ...instrument } = await issue({ method: 'qris', channelCode: 'QRIS' });
    expect(await sandbox.gateway.requestInstrument(request)).toEqual({ outcome: 'accepted', instrument });
  });

  test('A request for another amount under an existing reference has an unknown outcome', async () => {
    const { request } = await issue();
    const other = sandbox.gateway.requestInstrument({ ...request, amount: '15001.0000' });
    await expect(other).rejects.toMatchObject({ code: 'PROVIDER_UNKNOWN' });
  });

  test('The payment code of an e-wallet is its checkout URL, and that of OVO is the request id', async () => {
    const dana = await issue({ method: 'ewallet', channelCode: 'DANA' });
    expect(dana.paymentCode).toBe(`${sandbox.url}/checkout/${dana.providerPaymentRequestId}`);
    expect(dana.expiresAt).toBeNull();
    const ovo = await issue({ method: 'ewallet', channelCode: 'OVO' });
    expect(ovo.paymentCode).toBe(ovo.providerPaymentRequestId);
  });

  test('An instrument that the provider does not accept is refused: OVO without a phone, a past deadline', async () => {
    const { customer: _, ...nobody } = buildInstrumentRequest({ method: 'ewallet', channelCode: 'OVO' });
    const refused = { outcome: 'refused', code: 'API_VALIDATION_ERROR' };
    expect(await sandbox.gateway.requestInstrument(nobody)).toMatchObject(refused);
    const late = buildInstrumentRequest({ expiresAt: new Date(Date.now() - 1_000) });
    expect(await sandbox.gateway.requestInstrument(late)).toMatchObject(refused);
    expect(await sandbox.gateway.findInstrument(late.reference)).toBeNull();
  });

  test('A paid instrument’s state includes its payment, which can also be found by its own id', async () => {
    const { request, paymentCode, ...ids } = await issue();
    const { body } = await sandbox.pay(paymentCode);
    const state = await sandbox.gateway.findInstrument(request.reference);
    const payment = {
      providerPaymentId: body.id,
      providerPaymentRequestId: ids.providerPaymentRequestId,
      providerPaymentMethodId: ids.providerPaymentMethodId,
      reference: request.reference,
      amount: '15000.0000',
      status: 'succeeded',
      failureCode: null,
      paidAt: expect.any(Date),
    };
    expect(state).toMatchObject({ status: 'paid', payments: [payment] });
    expect(await sandbox.gateway.findPayment(ids.providerPaymentMethodId, body.id)).toEqual(payment);
    expect(await sandbox.gateway.findPayment(ids.providerPaymentMethodId, 'py-none')).toBeNull();
    expect(await sandbox.gateway.findPayment('pm-none', body.id)).toBeNull();
  });

  test('A payment of a wrong amount is reported and leaves the instrument payable', async () => {
    const { request, paymentCode } = await issue();
    await sandbox.pay(paymentCode, 14_000);
    expect(await sandbox.gateway.findInstrument(request.reference)).toMatchObject({
      status: 'waiting',
      payments: [{ amount: '14000.0000', status: 'succeeded' }],
    });
  });

  test('A declined instrument fails with the provider’s code', async () => {
    const { request, paymentCode } = await issue({ method: 'ewallet', channelCode: 'SHOPEEPAY' });
    await sandbox.post('/sandbox/decline', { payment_code: paymentCode });
    expect(await sandbox.gateway.findInstrument(request.reference)).toMatchObject({
      status: 'failed',
      failureCode: 'DECLINED_BY_ISSUER',
      payments: [{ status: 'failed', failureCode: 'DECLINED_BY_ISSUER', paidAt: null }],
    });
  });

  test('An instrument can be expired, even twice; later payments are still reported', async () => {
    const { request, paymentCode, providerPaymentMethodId } = await issue();
    await sandbox.gateway.expireInstrument(providerPaymentMethodId);
    await sandbox.gateway.expireInstrument(providerPaymentMethodId);
    expect(await sandbox.gateway.findInstrument(request.reference)).toMatchObject({ status: 'expired', payments: [] });
    await sandbox.pay(paymentCode);
    expect(await sandbox.gateway.findInstrument(request.reference)).toMatchObject({
      status: 'expired',
      payments: [{ status: 'succeeded' }],
    });
  });

  test('Expiring a paid instrument reverses nothing; expiring an unknown one has an unknown outcome', async () => {
    const { request, paymentCode, providerPaymentMethodId } = await issue();
    await sandbox.pay(paymentCode);
    await sandbox.gateway.expireInstrument(providerPaymentMethodId);
    expect(await sandbox.gateway.findInstrument(request.reference)).toMatchObject({ status: 'paid' });
    const nobody = sandbox.gateway.expireInstrument('pm-none');
    await expect(nobody).rejects.toMatchObject({ code: 'PROVIDER_UNKNOWN' });
  });

  test('A hundred and twenty payments of one instrument are all reported', async () => {
    const { request, paymentCode } = await issue();
    for (let amount = 1; amount <= 120; amount += 1) await sandbox.pay(paymentCode, amount);
    const state = await sandbox.gateway.findInstrument(request.reference);
    expect(new Set(state?.payments.map(({ amount }) => amount)).size).toBe(120);
  });

  test('The provider’s balance is returned as a decimal string', async () => {
    expect(await sandbox.gateway.readBalance()).toMatch(/^\d+\.0000$/);
  });
});
