import type { EntityManager } from '@mikro-orm/postgresql';
import { refuse } from '../../shared/errors.ts';
import { cancelInstrument } from '../payments/cancel-instrument.ts';
import { getPartnerPayment } from './find-partner-payments.ts';
import { isFinalPayment, type PartnerPaymentWorkflows, paymentPath } from './partner-payment.ts';
import type { PaymentWithChannel } from './present-partner-payment.ts';

/**
 * Cancels a payment for its partner, as `cancelInstrument` does, and returns it once it has ended. Throws
 * RESOURCE_NOT_FOUND, PAYMENT_ALREADY_PAID, and PROVIDER_INDETERMINATE (with what to poll) when the provider has not
 * ended it yet: it will still end, cancelled or paid.
 */
export async function cancelPartnerPayment(
  em: EntityManager,
  workflows: Pick<PartnerPaymentWorkflows, 'hintPartnerPayment'>,
  { partnerId, paymentId, requestId }: { partnerId: string; paymentId: string; requestId: string },
): Promise<PaymentWithChannel> {
  const find = () => getPartnerPayment(em, { partnerId, paymentId });
  await find();
  const status = await cancelInstrument(em, {
    table: 'partner_payments',
    id: paymentId,
    event: { resourceType: 'partner_payment', actorId: null, requestId, data: { cancelled: true } },
    statusNow: async () => (await find()).payment.status,
    wake: () => workflows.hintPartnerPayment(paymentId),
  });
  if (status === 'PAID') refuse('PAYMENT_ALREADY_PAID', 'The payment was paid before it could be cancelled');
  if (!isFinalPayment(status)) {
    refuse('PROVIDER_INDETERMINATE', 'The provider has not ended the payment yet: poll it, or try again', {
      details: { payment_id: paymentId, status_url: paymentPath(paymentId) },
    });
  }
  return find();
}
