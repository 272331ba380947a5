import type { EntityManager } from '@mikro-orm/postgresql';
import type { Gateway } from '../gateway/gateway.ts';
import { PaymentOrder } from './payment-order.entity.ts';

/** Expires the order's instrument at the provider, so that what the provider says next is final. */
export async function expireInstrument(
  em: EntityManager,
  gateway: Gateway,
  { orderId, signal }: { orderId: string; signal: AbortSignal },
): Promise<void> {
  const order = await em.findOneOrFail(PaymentOrder, { id: orderId });
  await expireAtProvider(gateway, { reference: orderId, methodId: order.provider_payment_method_id, signal });
}

/** Expires an instrument by the provider's id of its payment method, or by its reference where none was written down. */
export async function expireAtProvider(
  gateway: Gateway,
  instrument: { reference: string; methodId: string | null | undefined; signal: AbortSignal },
): Promise<void> {
  const { reference, signal } = instrument;
  const methodId =
    instrument.methodId ?? (await gateway.findInstrument(reference, { signal }))?.instrument.providerPaymentMethodId;
  if (methodId !== undefined) await gateway.expireInstrument(methodId, { signal });
}
