import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import { type Gateways, ProviderUnknown } from '../../platform/gateway/gateway.ts';
import { mayYetAppear } from './obtain-instrument.ts';
import { PaymentOrder } from './payment-order.entity.ts';

/** Expires the order's instrument, as `expireAtProvider` does, so that the provider's next answer is final. */
export async function expireInstrument(
  em: EntityManager,
  gateways: Gateways,
  { orderId, signal }: { orderId: string; signal: AbortSignal },
): Promise<void> {
  await expireAtProvider(em, gateways, { row: await em.findOneOrFail(PaymentOrder, { id: orderId }), signal });
}

/** What the instrument's row knows about it. */
interface Expiring {
  id: string;
  provider: string;
  provider_payment_method_id?: string | null;
  instrument_asked_at?: Date | null;
  cancelled_at?: Date | null;
}

/**
 * Expires an instrument by the provider's id of its payment method, or by its reference where none was stored. Throws
 * ProviderUnknown when the provider does not answer, and for a cancelled row while the provider may still list an
 * instrument it has made, which would stay open until its own deadline.
 */
export async function expireAtProvider(
  em: EntityManager,
  gateways: Gateways,
  { row, ...options }: { row: Expiring; signal: AbortSignal; partnerId?: string },
): Promise<void> {
  const gateway = gateways.of(row.provider);
  const methodId =
    row.provider_payment_method_id ??
    (await gateway.findInstrument(row.id, options))?.instrument.providerPaymentMethodId;
  if (methodId !== undefined) return gateway.expireInstrument(methodId, options);
  if (row.cancelled_at && mayYetAppear(row.instrument_asked_at, await readDatabaseClock(em))) {
    throw new ProviderUnknown('expire instrument: what was asked for may yet appear');
  }
}
