import type { EntityManager } from '@mikro-orm/postgresql';
import type { Gateway } from '../../platform/gateway/gateway.ts';
import { confirmInstrument } from '../payments/confirm-payment.ts';
import { expireAtProvider } from '../payments/obtain-instrument.ts';
import type { Confirmation } from '../payments/payment-contract.ts';
import { deadlineOf } from '../payments/payment-order.ts';
import { PartnerPayment } from './partner-payment.entity.ts';

interface Question {
  paymentId: string;
  signal: AbortSignal;
  /** As `confirmInstrument` takes it. */
  briefly?: boolean | undefined;
}

/** Asks the provider about a partner's payment, as `confirmInstrument`. Throws ProviderUnknown. */
export async function confirmPartnerPayment(
  em: EntityManager,
  gateway: Gateway,
  { paymentId, signal, briefly }: Question,
): Promise<Confirmation> {
  const asked = await em.findOne(
    PartnerPayment,
    { id: paymentId },
    { fields: ['partner_id'], disableIdentityMap: true },
  );
  return confirmInstrument(em, gateway, {
    table: 'partner_payments',
    reference: paymentId,
    signal,
    briefly,
    partnerId: asked?.partner_id ?? null,
    expect: async () => {
      const payment = await em.findOneOrFail(PartnerPayment, { id: paymentId });
      const { amount: total, status, provider_payment_request_id: requestId } = payment;
      return { total, status, requestId: requestId ?? null, deadline: deadlineOf(payment) };
    },
  });
}

/** Expires the payment's instrument, as `expireAtProvider` does, so that the provider's next answer is final. */
export async function expirePartnerInstrument(
  em: EntityManager,
  gateway: Gateway,
  { paymentId, signal }: Question,
): Promise<void> {
  const payment = await em.findOneOrFail(PartnerPayment, { id: paymentId });
  await expireAtProvider(em, gateway, { row: payment, signal, partnerId: payment.partner_id });
}
