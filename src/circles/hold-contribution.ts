import type { EntityManager } from '@mikro-orm/postgresql';
import { accountsOfSettlement } from '../ledger/accounts/account.ts';
import { holdBalances } from '../ledger/hold-balances.ts';
import type { EffectPayment } from '../money-in/payments/handler.ts';
import { shareCircle } from './lock-circle.ts';

/**
 * Locks what a contribution changes before its money is posted: the circle, shared, and what is ordered: the
 * contribution of the order that is paid, or, from a balance, the one for the same member that gives way to it.
 */
export async function holdContribution(
  tx: EntityManager,
  { orderId, referenceId: circleId, userId, onBehalfOf }: EffectPayment,
): Promise<void> {
  const circle = await shareCircle(tx, circleId);
  if (orderId !== null) {
    const [late] = await tx.execute<{ refund_account_id: string }[]>(
      `with held as materialized (select * from saving_circle_contributions where payment_order_id = ? for update)
       select held.refund_account_id from held
       join saving_circle_rounds r on (r.saving_circle_id, r.turn_number) = (held.saving_circle_id, held.turn_number)
       where held.status <> 'pending' or r.paid_at is not null or ?`,
      [orderId, circle.status !== 'active'],
    );
    // It is refunded at once, by a second journal.
    if (late !== undefined) {
      const holding = circle.holding_account_id;
      await holdBalances(tx, {
        debited: [holding],
        credited: [...accountsOfSettlement, holding, late.refund_account_id],
      });
    }
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
