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
  const methodId =
    order.provider_payment_method_id ??
    (await gateway.findInstrument(orderId, { signal }))?.instrument.providerPaymentMethodId;
  if (methodId !== undefined) await gateway.expireInstrument(methodId, { signal });
}
