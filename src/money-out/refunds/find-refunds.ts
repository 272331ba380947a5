import type { EntityManager } from '@mikro-orm/postgresql';
import { type ListWindow, readPage } from '../../platform/database/find-page.ts';
import type { Listed } from '../../platform/database/position.ts';
import { readFresh } from '../../platform/database/replica.ts';
import { refuse } from '../../shared/errors.ts';
import { findPayoutsOf } from '../payouts/find-payouts.ts';
import { Payout } from '../payouts/payout.entity.ts';
import { PaymentRefund } from './payment-refund.entity.ts';
import type { WholeRefund } from './present-refund.ts';

/** The refund of this id of this partner, as it is in the database now; null when there is none. */
export async function findRefund(
  em: EntityManager,
  { partnerId, id }: { partnerId: string; id: string },
): Promise<WholeRefund | null> {
  const payout = await em.findOne(Payout, { id, partner_id: partnerId, kind: 'payment_refund' });
  if (payout === null) return null;
  const { payment_id: paymentId } = await em.findOneOrFail(PaymentRefund, { id });
  return { payout, paymentId };
}

/** A refund of this partner's payment. Throws RESOURCE_NOT_FOUND alike for a missing one and another's. */
export async function getRefund(
  em: EntityManager,
  { partnerId, paymentId, id }: { partnerId: string; paymentId: string; id: string },
): Promise<WholeRefund> {
  const refund = await findRefund(em, { partnerId, id });
  return refund?.paymentId === paymentId ? refund : refuse('RESOURCE_NOT_FOUND', 'The refund was not found');
}

/**
 * A page of a payment's refunds, newest first; whose payment it is has been checked. Throws REQUEST_INVALID for an
 * `after` that is none of them.
 */
export function findRefunds(
  em: EntityManager,
  paymentId: string,
  window: ListWindow,
): Promise<Listed & { items: WholeRefund[] }> {
  return readFresh(em, async (reader) => {
    const { items, ...listed } = await readPage(reader, PaymentRefund, { payment_id: paymentId }, window);
    const payoutOf = await findPayoutsOf(reader, items);
    return { items: items.map((refund) => ({ payout: payoutOf(refund), paymentId })), ...listed };
  });
}
