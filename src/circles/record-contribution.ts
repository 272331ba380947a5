import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '../platform/events/record-event.ts';
import { newId } from '../shared/ids.ts';
import type { Money } from '../shared/money.ts';
import { cancelPendingContribution } from './cancel-pending.ts';
import { getPayableCircle, refuseRepeat } from './find-payable-circle.ts';
import { shareCircle } from './lock-circle.ts';

export interface NewContribution {
  circleId: string;
  /** Who pays. */
  userId: string;
  /** The member it is for; null: the payer. */
  onBehalfOf: string | null;
  /** IDR, scale 4, including the guarantee due with a first contribution. */
  amount: Money;
  /** The order of a gateway contribution, which is `pending` until it is paid. */
  orderId: string | null;
  requestId: string | null;
  /** The price row and the source of a balance contribution, which is `completed` at once. */
  paid: { transactionId: string; sourceAccountId: string } | null;
}

/**
 * Records a contribution to the open round in the caller's transaction, with its event. Throws as `getPayableCircle`,
 * also for a concurrent repeat: the database allows one pending or completed row per member and turn, and one with the
 * guarantee per member.
 */
export async function recordContribution(tx: EntityManager, contribution: NewContribution): Promise<string> {
  const { circleId, userId, onBehalfOf, amount, orderId, requestId, paid } = contribution;
  await shareCircle(tx, circleId);
  const payable = await getPayableCircle(tx, { circleId, userId, onBehalfOf, amount, inAll: true });
  const { turn, memberId, payerAccountId, guarantee } = payable;
  // What another has ordered for the member and not paid gives way.
  if (payable.isOwn) await cancelPendingContribution(tx, { circleId, turn, memberId, paidBy: userId });
  const id = newId();
  const rail = orderId === null ? 'balance' : 'gateway';
  const status = paid === null ? 'pending' : 'completed';
  const rows = await tx.execute<unknown[]>(
    `insert into saving_circle_contributions (id, saving_circle_id, member_id, user_id, turn_number, amount,
       guarantee_amount, rail, status, refund_account_id, payment_order_id, transaction_id)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     on conflict do nothing
     returning 1`,
    [
      id,
      circleId,
      memberId,
      userId,
      turn,
      payable.contribution,
      guarantee,
      rail,
      status,
      paid?.sourceAccountId ?? payerAccountId,
      orderId,
      paid?.transactionId ?? null,
    ],
  );
  if (rows.length === 0) return refuseRepeat('pending or completed');
  await recordEvent(tx, {
    event: 'CONTRIBUTION_MADE',
    resourceType: 'saving_circle_contribution',
    resourceId: id,
    actorId: userId,
    requestId,
    data: {
      saving_circle_id: circleId,
      member_id: memberId,
      turn_number: turn,
      amount: payable.contribution,
      guarantee_amount: guarantee,
      rail,
      status,
      payment_order_id: orderId,
    },
  });
  return id;
}
