import type { EntityManager } from '@mikro-orm/postgresql';
import type { Caller } from '../identity/caller.ts';
import { refuse } from '../shared/errors.ts';
import { belongsTo, findCircle } from './find-circle.ts';
import { refuseUnknownCircle } from './lock-circle.ts';
import type { CircleStatus } from './saving-circle.ts';
import { type MemberAccounts, type Settlement, settle } from './settlement.ts';

/**
 * How the members of a circle stand, in the order of their turns, for its members, creator and admins. Refuses with
 * NOT_FOUND, and with FORBIDDEN who is none of them.
 */
export async function findSettlement(em: EntityManager, caller: Caller, circleId: string): Promise<Settlement> {
  const circle = (await findCircle(em, circleId)) ?? refuseUnknownCircle();
  if (!(await belongsTo(em, caller, circle)))
    refuse('FORBIDDEN', 'you are not a member of this saving circle', { field: 'id' });
  // One statement, so that a cancellation meanwhile is in all of it or in nothing.
  const rows = await em.execute<(Omit<MemberAccounts, 'guarantee'> & { status: CircleStatus })[]>(
    `select m.id as member_id, m.account_id, s.status,
       (select coalesce(sum(c.amount), 0) from saving_circle_contributions c
         where c.member_id = m.id and c.status = 'completed')::numeric(20, 4)::text as paid,
       (select coalesce(sum(r.amount), 0) from saving_circle_rounds r
         where r.receiver_member_id = m.id)::numeric(20, 4)::text as received
     from saving_circle_members m join saving_circles s on s.id = m.saving_circle_id
     where m.saving_circle_id = ? order by m.turn_number, m.joining_order`,
    [circleId],
  );
  const accounts = rows.map((row) => ({ ...row, guarantee: '0' }));
  return settle(accounts, { isCancelled: rows[0]?.status === 'cancelled' });
}
