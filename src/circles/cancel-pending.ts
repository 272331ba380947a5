import type { EntityManager } from '@mikro-orm/postgresql';

/**
 * Cancels what was ordered for a member's contribution to a turn and not paid, except by `paidBy`: it gives way to a
 * payment or to a new member. `endOrders` then ends the order; money that still arrives for it is refunded.
 */
export const cancelPendingContribution = async (
  tx: EntityManager,
  contribution: { circleId: string; turn: number; memberId: string; paidBy?: string },
): Promise<void> => {
  const { circleId, turn, memberId, paidBy = null } = contribution;
  await tx.execute(
    `update saving_circle_contributions set status = 'cancelled', updated_at = clock_timestamp()
     where saving_circle_id = ? and turn_number = ? and status = 'pending' and member_id = ?
       and user_id is distinct from ?::uuid`,
    [circleId, turn, memberId, paidBy],
  );
};
