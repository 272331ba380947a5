import { raw } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { findPage, type ListWindow } from '../../platform/database/find-page.ts';
import type { Listed } from '../../platform/database/position.ts';
import { must } from '../../shared/assert.ts';
import { refuse } from '../../shared/errors.ts';
import { Payout } from '../payouts/payout.entity.ts';
import type { WholeRefund } from './present-refund.ts';

export async function ofPayment(em: EntityManager, payout: Payout): Promise<WholeRefund> {
  const sql = 'select payment_id from payment_refunds where id = ?';
  const [refund] = await em.execute<{ payment_id: string }[]>(sql, [payout.id]);
  return { payout, paymentId: must(refund, 'a refund has a payment').payment_id };
}

/** Returns the partner's refund with this id, or null. */
export async function findRefund(
  em: EntityManager,
  { partnerId, id }: { partnerId: string; id: string },
): Promise<WholeRefund | null> {
  const payout = await em.findOne(Payout, { id, partner_id: partnerId, kind: 'payment_refund' });
  return payout && ofPayment(em, payout);
}

/** Returns a refund of the partner's payment. Throws RESOURCE_NOT_FOUND for any other id. */
export async function getRefund(
  em: EntityManager,
  { partnerId, paymentId, id }: { partnerId: string; paymentId: string; id: string },
): Promise<WholeRefund> {
  const refund = await findRefund(em, { partnerId, id });
  return refund?.paymentId === paymentId ? refund : refuse('RESOURCE_NOT_FOUND', 'The refund was not found');
}

/**
 * Returns a page of a payment's refunds, newest first; the caller checks that the payment is the partner's. Throws
 * REQUEST_INVALID for a bad `after`.
 */
export async function findRefunds(
  em: EntityManager,
  paymentId: string,
  window: ListWindow,
): Promise<Listed & { items: WholeRefund[] }> {
  const isOfIt = (row: string) => `exists (select from payment_refunds r where r.id = ${row}.id and r.payment_id = ?)`;
  const { items, ...listed } = await findPage(em, Payout, { [raw(isOfIt, [paymentId])]: [] }, window);
  return { items: items.map((payout) => ({ payout, paymentId })), ...listed };
}
