import type { HttpAnswer } from '../../support/http.ts';
import type { BuiltPartner } from '../../support/partner.ts';
import { eventually } from '../../support/stack.ts';
import { magicAccount, type PayoutPlace } from '../payouts/build-payouts.ts';

/** Creates a paid payment of this partner (by default IDR 2,000,000 with DANA); returns its id. */
export async function buildPaid(
  stack: Pick<PayoutPlace, 'sandbox'>,
  partner: BuiltPartner,
  changes: object = {},
): Promise<string> {
  const body = { method: 'ewallet', channel: 'DANA', amount: '2000000', ...changes };
  const { status, body: made } = await partner.post('/payments', body);
  expect({ status, made }).toMatchObject({ status: 200 });
  const { id, payment_code } = made.data;
  await stack.sandbox.post('/sandbox/pay', { payment_code });
  await eventually(
    async () => (await partner.get(`/payments/${id}`).catch(() => null))?.body?.data,
    (payment) => payment?.status === 'succeeded',
    30_000,
  );
  await eventually(
    async () => (await partner.get('/balance').catch(() => null))?.body?.data,
    (balance) => balance?.pending === '0.0000',
    30_000,
  );
  return id;
}

/** A bank account for refunds by transfer that ends with the sandbox's magic digits. */
export const toBank = (lastDigits = '111111') => ({
  bank_code: 'BRI',
  bank_account_number: magicAccount(lastDigits),
  beneficiary_name: 'Budi Santoso',
});

/** Requests a refund of a payment; returns the answer. */
export const askRefund = (
  partner: BuiltPartner,
  paymentId: string,
  body: object = {},
  key?: string,
): Promise<HttpAnswer> => partner.post(`/payments/${paymentId}/refunds`, { reason: 'Returned goods', ...body }, key);

/** Requests a refund, checks that it is pending and returns it. */
export async function refund(partner: BuiltPartner, paymentId: string, body: object = {}): Promise<HttpAnswer['body']> {
  const { status, body: answered } = await askRefund(partner, paymentId, body);
  expect({ status, answered }).toMatchObject({ status: 200, answered: { data: { status: 'pending' } } });
  return answered.data;
}

export const readRefund = async (partner: BuiltPartner, { id, payment_id }: { id: string; payment_id: string }) =>
  (await partner.get(`/payments/${payment_id}/refunds/${id}`)).body?.data;

export const refundWhen = (
  partner: BuiltPartner,
  refunded: { id: string; payment_id: string },
  status: string,
  withinMs = 30_000,
) =>
  eventually(
    () => readRefund(partner, refunded).catch(() => undefined),
    (found) => found?.status === status,
    withinMs,
  );

/** The provider's records under a refund's reference: refunds to wallets and transfers to banks. */
export async function atProvider(
  stack: Pick<PayoutPlace, 'sandbox'>,
  id: string,
): Promise<{ refunds: object[]; transfers: object[] }> {
  const { refunds, transfers } = (await stack.sandbox.get(`/sandbox/records?reference_id=${id}`)).body;
  return { refunds, transfers };
}
