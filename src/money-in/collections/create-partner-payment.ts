import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { findUnderKey } from '../../platform/openings/idempotency-keys.ts';
import { createOnce, isVerdict } from '../../platform/openings/open-once.ts';
import { budgets } from '../../shared/budgets.ts';
import { refuse } from '../../shared/errors.ts';
import { partnerPaymentIdFor } from '../../shared/ids.ts';
import type { KeyedRequest } from '../../shared/opening.ts';
import { findPartnerPayment } from './find-partner-payments.ts';
import { type PartnerPaymentWorkflows, paymentPath } from './partner-payment.ts';
import { type PartnerPaymentRequest, preparePartnerPayment } from './prepare-partner-payment.ts';
import type { PaymentWithChannel } from './present-partner-payment.ts';

export interface PartnerPaymentCreation {
  partnerId: string;
  body: PartnerPaymentRequest;
  idempotency: KeyedRequest;
  requestId: string;
}

/**
 * Creates a payment and waits for its instrument. Throws PROVIDER_REFUSED if the provider refused it,
 * PROVIDER_INDETERMINATE (with the URL to poll) while the outcome is unknown, SERVICE_UNAVAILABLE if the workflow could
 * not be started.
 */
export async function createPartnerPayment(
  em: EntityManager,
  { sealer, workflows }: { sealer: Sealer; workflows: Pick<PartnerPaymentWorkflows, 'startPartnerPayment'> },
  { partnerId, body, idempotency, requestId }: PartnerPaymentCreation,
): Promise<PaymentWithChannel> {
  const paymentId = partnerPaymentIdFor(partnerId, idempotency.key);
  const find = (place: EntityManager) => findPartnerPayment(place, paymentId);
  const earlier = idempotency.resourceId === null ? null : await find(em);
  if (earlier?.payment.status === 'PENDING') {
    // The row exists, so a refusal that arrives through Temporal is not trusted.
    await workflows
      .startPartnerPayment(paymentId, null, budgets.requests.partnerPayment)
      .catch((error: unknown) => (isVerdict(error) ? null : Promise.reject(error)));
  }
  const found =
    (earlier && (await find(em))) ??
    (await createOnce(
      em,
      {
        resourceId: paymentId,
        kind: 'partner_payment',
        claim: { partnerId, ...idempotency },
        stamp: idempotency.stamp,
        unavailable: 'The payment could not be started; try again',
      },
      {
        find,
        prepare: () => preparePartnerPayment(em, sealer, { paymentId, partnerId, body, idempotency, requestId }),
        start: (opening) => workflows.startPartnerPayment(paymentId, opening, budgets.requests.partnerPayment),
      },
    ));
  const { payment } = found;
  // The start may have joined another request's payment with the same key, which this request must not return.
  if (!payment.payment_code) await findUnderKey(em.fork(), { partnerId, ...idempotency });
  if (payment.status === 'PENDING') {
    refuse('PROVIDER_INDETERMINATE', 'The provider has not answered yet: poll, or retry under the same key', {
      details: { payment_id: paymentId, status_url: paymentPath(paymentId) },
    });
  }
  if (payment.status === 'FAILED' && !payment.payment_code) {
    const details = { payment_id: paymentId, failure_code: payment.failure_code ?? null };
    refuse('PROVIDER_REFUSED', `The provider refused the payment: ${payment.failure_code ?? 'no reason given'}`, {
      details,
    });
  }
  return found;
}
