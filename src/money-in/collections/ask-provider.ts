import type { EntityManager } from '@mikro-orm/postgresql';
import type { Gateways } from '../../platform/gateway/gateway.ts';
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
  gateways: Gateways,
  { paymentId, signal, briefly }: Question,
): Promise<Confirmation> {
  const asked = { fields: ['provider', 'partner_id'], disableIdentityMap: true } as const;
  const { provider, partner_id: partnerId } = await em.findOneOrFail(PartnerPayment, { id: paymentId }, asked);
  return confirmInstrument(em, gateways, {
    table: 'partner_payments',
    provider,
    reference: paymentId,
    signal,
    briefly,
    partnerId,
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
  gateways: Gateways,
  { paymentId, signal }: Question,
): Promise<void> {
  const payment = await em.findOneOrFail(PartnerPayment, { id: paymentId });
  await expireAtProvider(em, gateways, { row: payment, signal, partnerId: payment.partner_id });
}
