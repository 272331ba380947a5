import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { isPaidUnknown } from '../payments/find-receipts.ts';
import { type Attempt, expectLastAttempt } from '../payments/obtain-instrument.ts';
import { finishPayment, lockPayment, standingOf } from './finish-partner-payment.ts';
import { isFinalPayment, type PartnerPaymentStep } from './partner-payment.ts';

/**
 * Ends a payment unpaid, with its webhook, in one transaction. A final payment stays as it is, and one whose money is in
 * suspense, unknown when it came. Closed because an attempt
 * to get an instrument was `refused`, it throws as `expectLastAttempt`.
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
    if (refused) await expectLastAttempt(tx, 'partner_payments', paymentId, refused);
    const type = status === 'FAILED' ? 'payment.failed' : 'payment.expired';
    const data = { failure_code: failureCode };
    return finishPayment(tx, sealer, payment, { status, type, failureCode, data, at: await readDatabaseClock(tx) });
  });
}
