import type { EntityManager } from '@mikro-orm/postgresql';

/**
 * Cancels contributions of members to a turn that were ordered and not paid, except those that `paidBy` has ordered:
 * they were made good otherwise, or give way to a payment. Money that still arrives for them is refunded.
 */
export const cancelPendingContributions = async (
  tx: EntityManager,
  contributions: { circleId: string; turn: number; memberIds: readonly string[]; paidBy?: string },
): Promise<void> => {
  const { circleId, turn, memberIds, paidBy = null } = contributions;
  await tx.execute(
    `update saving_circle_contributions set status = 'cancelled', updated_at = clock_timestamp()
     where saving_circle_id = ? and turn_number = ? and status = 'pending' and member_id = any (?::uuid[])
       and user_id is distinct from ?::uuid`,
    [circleId, turn, `{${memberIds.join(',')}}`, paidBy],
  );
};
