import { type Gateways, isProviderUnknown, type ProviderPayment } from '../../platform/gateway/gateway.ts';
import type { Receipt } from './receipt.entity.ts';

/** The provider status of a receipt's payment now, `not known`, or `silent` when the provider does not answer. */
export async function hearPayment(
  gateways: Gateways,
  receipt: Pick<Receipt, 'provider' | 'provider_payment_id' | 'provider_payment_method_id'>,
  signal: AbortSignal,
): Promise<ProviderPayment['status'] | 'not known' | 'silent'> {
  const { provider, provider_payment_method_id: method, provider_payment_id: id } = receipt;
  try {
    return (await gateways.of(provider).findPayment(method, id, { signal }))?.status ?? 'not known';
  } catch (error) {
    if (!isProviderUnknown(error)) throw error;
    return 'silent';
  }
}
