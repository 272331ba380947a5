import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { refuse } from '../../shared/errors.ts';
import { cancelInstrument } from '../payments/cancel-instrument.ts';
import { isPaidUnknown } from '../payments/find-receipts.ts';
import { type Attempt, expectNoAttempt } from '../payments/obtain-instrument.ts';
import { getPartnerPayment } from './find-partner-payments.ts';
import { finishPayment, lockPayment, standingOf } from './finish-partner-payment.ts';
import {
  isFinalPayment,
  type PartnerPaymentStep,
  type PartnerPaymentWorkflows,
  paymentPath,
} from './partner-payment.ts';
import type { PaymentWithChannel } from './present-partner-payment.ts';

/**
 * Closes an unpaid payment, with its webhook, in one transaction. Does not change a final payment, or one whose money
 * is in suspense because it arrived unidentified. If a `refused` attempt closes the payment, throws as
 * `expectNoAttempt` does.
 */
export function closePartnerPayment(
  em: EntityManager,
  sealer: Sealer,
  close: { paymentId: string; status: 'FAILED' | 'EXPIRED'; failureCode: string | null; refused?: Attempt },
): Promise<PartnerPaymentStep> {
  const { paymentId, status, failureCode, refused } = close;
  return em.transactional(async (tx) => {
    const payment = await lockPayment(tx, paymentId);
    if (isFinalPayment(payment.status)) return standingOf(tx, payment);
    if (await isPaidUnknown(tx, { reference: payment.id, amount: payment.amount })) return standingOf(tx, payment);
    if (refused) await expectNoAttempt(tx, 'partner_payments', paymentId, refused);
    const type = status === 'FAILED' ? 'payment.failed' : 'payment.expired';
    const data = { failure_code: failureCode };
    return finishPayment(tx, sealer, payment, { status, type, failureCode, data, at: await readDatabaseClock(tx) });
  });
}

/**
 * Cancels a payment for its partner, as `cancelInstrument` does, and returns the final payment. Throws
 * RESOURCE_NOT_FOUND, PAYMENT_ALREADY_PAID, and PROVIDER_INDETERMINATE (with the URL to poll) while the provider has
 * not cancelled it: it will still become paid or cancelled.
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
    wake: () => workflows.hintPartnerPayment(paymentId),
  });
  if (status === 'PAID') refuse('PAYMENT_ALREADY_PAID', 'The payment was paid before it could be cancelled');
  if (!isFinalPayment(status)) {
    refuse('PROVIDER_INDETERMINATE', 'The provider has not cancelled the payment yet: poll it, or try again', {
      details: { payment_id: paymentId, status_url: paymentPath(paymentId) },
    });
  }
  return find();
}
