import { z } from 'zod';
import { refuse } from '../../shared/errors.ts';
import type { CallbackHint } from '../gateway.ts';

const envelope = z.object({ event: z.string().min(1).max(100), data: z.unknown() });

const id = z.string().min(1).max(255);

const paymentData = z.object({
  id,
  payment_request_id: id.nullish(),
  reference_id: id,
  payment_method: z.object({ id }).nullish(),
});
const paymentRequestData = z.object({ id, reference_id: id, payment_method: z.object({ id }).nullish() });
const identified = z.object({ id, reference_id: id });

const unnamed = {
  providerPaymentId: null,
  providerPaymentRequestId: null,
  providerPaymentMethodId: null,
  providerTransferId: null,
} as const;

/** One reader per family of events, chosen by what stands before the first dot. */
const readers: Record<string, (event: string, data: unknown) => CallbackHint> = {
  payment: (event, data) => {
    const payment = paymentData.parse(data);
    return {
      ...unnamed,
      kind: 'payment',
      event,
      reference: payment.reference_id,
      providerPaymentId: payment.id,
      providerPaymentRequestId: payment.payment_request_id ?? null,
      providerPaymentMethodId: payment.payment_method?.id ?? null,
    };
  },
  payment_request: (event, data) => {
    const request = paymentRequestData.parse(data);
    return {
      ...unnamed,
      kind: 'payment',
      event,
      reference: request.reference_id,
      providerPaymentRequestId: request.id,
      providerPaymentMethodId: request.payment_method?.id ?? null,
    };
  },
  payment_method: (event, data) => {
    const method = identified.parse(data);
    return {
      ...unnamed,
      kind: 'payment_method',
      event,
      reference: method.reference_id,
      providerPaymentMethodId: method.id,
    };
  },
  payout: (event, data) => {
    const payout = identified.parse(data);
    return {
      ...unnamed,
      kind: 'transfer',
      event,
      reference: payout.reference_id,
      providerTransferId: payout.id,
    };
  },
};

/**
 * Reads what a callback claims; null for an event that concerns nobody here. Refuses with REQUEST_INVALID, naming the
 * fields but not their values, when the body is not one of the provider's.
 */
export function readCallback(body: unknown): CallbackHint | null {
  try {
    const { event, data } = envelope.parse(body);
    const reader = Object.entries(readers).find(([family]) => event.startsWith(`${family}.`));
    return reader ? reader[1](event, data) : null;
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    const fields = error.issues.map(({ path }) => path.join('.') || 'body').join(', ');
    return refuse('REQUEST_INVALID', `not a callback of the provider: ${fields}`);
  }
}
