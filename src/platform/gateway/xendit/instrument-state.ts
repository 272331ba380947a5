import { z } from 'zod';
import { compareMoney, formatMoney, isMoney } from '../../../shared/money.ts';
import { type Instrument, type InstrumentState, type ProviderPayment, ProviderUnknown } from '../gateway.ts';
import { moneyFromWire } from './wire-amount.ts';

/** The fields of the SDK's `PaymentRequest` that we read; the SDK does not validate answers. */
export const paymentRequestAnswer = z.object({
  id: z.string().min(1),
  referenceId: z.string(),
  amount: z.number(),
  status: z.string(),
  failureCode: z.string().nullish(),
  paymentMethod: z.object({
    id: z.string().min(1),
    status: z.string(),
    virtualAccount: z
      .object({
        channelProperties: z.object({ virtualAccountNumber: z.string().min(1), expiresAt: z.date().optional() }),
      })
      .nullish(),
    qrCode: z
      .object({ channelProperties: z.object({ qrString: z.string().min(1), expiresAt: z.date().optional() }) })
      .nullish(),
    ewallet: z.object({ channelCode: z.string().optional() }).nullish(),
  }),
  actions: z.array(z.object({ action: z.string(), urlType: z.string(), url: z.string().nullish() })).nullish(),
});

export type PaymentRequestAnswer = z.infer<typeof paymentRequestAnswer>;

/** A page of `GET /v2/payment_methods/{id}/payments`, which the SDK returns unchanged. */
export const paymentsAnswer = z.object({ data: z.array(z.unknown()), has_more: z.boolean().nullish() });

/** An entry of such a page. */
export const paymentAnswer = z.object({
  id: z.string().min(1),
  payment_request_id: z.string().nullish(),
  reference_id: z.string(),
  amount: z.number().transform(String).refine(isMoney).transform(formatMoney),
  status: z.string(),
  payment_method: z.object({ id: z.string() }).nullish(),
  failure_code: z.string().nullish(),
  created: z.iso.datetime({ offset: true }),
});

type PaymentAnswer = z.infer<typeof paymentAnswer>;

const checkoutPreference = ['WEB', 'MOBILE', 'DEEPLINK'];

function checkoutUrlOf({ actions }: PaymentRequestAnswer): string | null {
  for (const urlType of checkoutPreference) {
    const found = actions?.find((action) => action.action === 'AUTH' && action.urlType === urlType && action.url);
    if (found?.url) return found.url;
  }
  return null;
}

/** Returns the instrument of a payment request. Throws ProviderUnknown if the answer has no payment code. */
export function instrumentOf(answer: PaymentRequestAnswer): Instrument {
  const { virtualAccount, qrCode, ewallet } = answer.paymentMethod;
  const ids = { providerPaymentRequestId: answer.id, providerPaymentMethodId: answer.paymentMethod.id };
  if (virtualAccount) {
    const { virtualAccountNumber, expiresAt } = virtualAccount.channelProperties;
    return { ...ids, paymentCode: virtualAccountNumber, expiresAt: expiresAt ?? null };
  }
  if (qrCode) {
    const { qrString, expiresAt } = qrCode.channelProperties;
    return { ...ids, paymentCode: qrString, expiresAt: expiresAt ?? null };
  }
  // A push wallet (OVO) has no page: the payer acts in the app, and the request's id identifies the payment.
  if (ewallet) return { ...ids, paymentCode: checkoutUrlOf(answer) ?? answer.id, expiresAt: null };
  throw new ProviderUnknown('the provider answered with an instrument of an unknown kind');
}

const requestStatuses: Record<string, InstrumentState['status']> = {
  PENDING: 'waiting',
  REQUIRES_ACTION: 'waiting',
  AWAITING_CAPTURE: 'waiting',
  SUCCEEDED: 'paid',
  FAILED: 'failed',
  EXPIRED: 'expired',
  CANCELED: 'expired',
  VOIDED: 'expired',
};

const finalMethodStatuses = new Set(['EXPIRED', 'INACTIVE', 'FAILED']);

/** Whether a payment method no longer accepts money. */
export function isFinalMethodStatus(status: string | undefined): boolean {
  return status !== undefined && finalMethodStatuses.has(status);
}

/**
 * Returns the state of the whole request. A request that still waits on a closed payment method is expired, unless a
 * payment of the right amount exists that the request does not show yet. An inactive method has been used: the request
 * is paid, even if neither the request nor the list of payments shows it yet.
 */
export function instrumentStateOf(answer: PaymentRequestAnswer, payments: ProviderPayment[]): InstrumentState {
  const status = requestStatuses[answer.status];
  if (!status) throw new ProviderUnknown(`the provider answered with the unknown status ${answer.status}`);
  const amount = moneyFromWire(answer.amount);
  const settles = payments.some(
    (payment) =>
      (payment.status === 'succeeded' || payment.status === 'pending') && compareMoney(payment.amount, amount) === 0,
  );
  return {
    status: status === 'waiting' ? waitingOn(answer.paymentMethod.status, settles) : status,
    failureCode: answer.failureCode ?? null,
    instrument: instrumentOf(answer),
    payments,
  };
}

function waitingOn(methodStatus: string, settles: boolean): InstrumentState['status'] {
  if (methodStatus === 'INACTIVE') return 'paid';
  return isFinalMethodStatus(methodStatus) && !settles ? 'expired' : 'waiting';
}

const paymentStatuses: Record<string, ProviderPayment['status']> = {
  SUCCEEDED: 'succeeded',
  FAILED: 'failed',
  CANCELED: 'failed',
  VOIDED: 'voided',
  EXPIRED: 'failed',
};

/** Returns a payment under a payment method; an unknown status counts as pending. */
export function providerPaymentOf(answer: PaymentAnswer, methodId: string): ProviderPayment {
  const status = paymentStatuses[answer.status] ?? 'pending';
  return {
    providerPaymentId: answer.id,
    providerPaymentRequestId: answer.payment_request_id ?? null,
    providerPaymentMethodId: answer.payment_method?.id ?? methodId,
    reference: answer.reference_id,
    amount: answer.amount,
    status,
    failureCode: answer.failure_code ?? null,
    paidAt: status === 'succeeded' ? new Date(answer.created) : null,
  };
}
