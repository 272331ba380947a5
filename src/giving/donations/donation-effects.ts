import type { EntityManager } from '@mikro-orm/postgresql';
import type { HandledPayment } from '../../money-in/payments/handler.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import { newId } from '../../shared/ids.ts';
import type { DonationType } from './donation.ts';

/** The target of a donation: a cause, or the open pool (null). */
interface Purpose {
  type: DonationType;
  causeId: string | null;
  /** The subscription, and the period being paid. */
  subscription?: { id: string; period: number };
}

/** Gateway rail: inserts the `pending` donation of an order. A donor may donate to the same target repeatedly. */
export async function openDonation(
  tx: EntityManager,
  { orderId, userId, amount, requestId }: HandledPayment,
  { type, causeId }: Purpose,
): Promise<void> {
  const id = newId();
  await tx.execute(
    `insert into donations (id, user_id, type, amount, status, cause_id, payment_order_id)
     values (?, ?, ?, ?, 'pending', ?, ?)`,
    [id, userId, type, amount, causeId, orderId],
  );
  await recordAction(tx, { actorId: userId, requestId }, 'RESOURCE_CREATED', ['donation', id]);
}

/** Gateway rail: locks the donation of an order, before its money is posted. */
export async function holdDonation(tx: EntityManager, { orderId }: HandledPayment): Promise<void> {
  if (orderId === null) return;
  await tx.execute('select from donations where payment_order_id = ? for no key update', [orderId]);
}

/** Both rails: makes the donation `completed`, with the transaction that paid it, and adds it to its cause's total. */
export const completeDonation = (
  tx: EntityManager,
  { orderId, userId, amount, requestId }: HandledPayment,
  transactionId: string,
  { type, causeId, subscription }: Purpose,
): Promise<unknown> => {
  const { id = null, period = null } = subscription ?? {};
  const params = [type, userId, causeId, amount, orderId, transactionId, id, period, requestId];
  return tx.execute(
    'select settle_donation(?, ?::uuid, ?::uuid, ?::numeric, ?::uuid, ?::uuid, ?::uuid, ?::integer, ?)',
    params,
  );
};

/** Gateway rail: makes the donation of an unpaid order `failed`. */
export async function closeDonation(tx: EntityManager, { orderId, userId }: HandledPayment): Promise<void> {
  const closed = await tx.execute<{ id: string }[]>(
    `update donations set status = 'failed', updated_at = now()
     where payment_order_id = ? and status = 'pending' returning id`,
    [orderId],
  );
  for (const { id } of closed) {
    await recordAction(tx, { actorId: userId, requestId: null }, 'RESOURCE_UPDATED', ['donation', id], {
      status: 'failed',
    });
  }
}
