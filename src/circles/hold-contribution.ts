import type { EntityManager } from '@mikro-orm/postgresql';
import type { HandledPayment } from '../payments/handler.ts';
import { shareCircle } from './lock-circle.ts';

/**
 * Locks what a contribution changes before its money is posted: the circle, shared, and what is ordered: the
 * contribution of the order that is paid, or, from a balance, the one for the same member that gives way to it.
 */
export async function holdContribution(
  tx: EntityManager,
  { orderId, referenceId: circleId, userId, onBehalfOf }: HandledPayment,
): Promise<void> {
  const circle = await shareCircle(tx, circleId);
  if (orderId !== null) {
    await tx.execute('select from saving_circle_contributions where payment_order_id = ? for update', [orderId]);
    return;
  }
  await tx.execute(
    `select from saving_circle_contributions c
     where c.saving_circle_id = ? and c.turn_number = ? and c.status = 'pending'
       and c.member_id in (select m.id from saving_circle_members m
         where m.saving_circle_id = ? and case when ?::uuid is null then m.user_id = ? else m.id = ? end)
     for update of c`,
    [circleId, circle.current_turn, circleId, onBehalfOf, userId, onBehalfOf],
  );
}
