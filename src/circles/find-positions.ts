import type { EntityManager } from '@mikro-orm/postgresql';
import type { Money } from '../shared/money.ts';
import type { PlaceInRound } from './remedy.ts';
import type { CircleStatus } from './saving-circle.ts';
import type { Debt, MemberSums } from './settlement.ts';

/** A member's position in a circle, and in the round of its current turn. */
export interface Position extends Required<MemberSums>, PlaceInRound {
  covered: Money;
  /** Whether an order for the contribution is open; it may already have been paid. */
  has_order: boolean;
  user_id: string;
  /** Null before the start, and for members who lost their place before their turn. */
  turn_number: number | null;
  excluded_turn: number | null;
  /** The circle's status in the same snapshot. */
  status: CircleStatus;
  /** Debts to the members whose guarantees paid for this one. */
  owed: Debt[];
}

// One statement, so that it sees all of a concurrent cancellation or nothing.
const query = `
  select p.member_id, p.account_id, p.user_id, p.turn_number, p.excluded_turn, s.status,
    p.paid::numeric(20, 4)::text as paid, p.guarantee::numeric(20, 4)::text as guarantee,
    p.received::numeric(20, 4)::text as received, p.covered::numeric(20, 4)::text as covered,
    p.elsewhere::numeric(20, 4)::text as elsewhere, coalesce(p.turn_number < s.current_turn, false) as has_received,
    coalesce(c.status = 'completed', false) as has_paid, coalesce(c.status = 'pending', false) as has_order,
    (select coalesce(json_agg(json_build_object('debtor_member_id', g.debtor_member_id, 'creditor_member_id',
        g.guarantor_member_id, 'amount', g.amount::numeric(20, 4)::text) order by g.guarantor_member_id), '[]')
      from (select debtor_member_id, guarantor_member_id, sum(amount) as amount from saving_circle_covers
        where debtor_member_id = p.member_id and guarantor_member_id <> p.member_id group by 1, 2) g) as owed
  from saving_circle_positions p join saving_circles s on s.id = p.saving_circle_id
  left join saving_circle_contributions c on c.member_id = p.member_id and c.turn_number = s.current_turn
    and c.status in ('pending', 'completed')
  where p.saving_circle_id = ? order by p.turn_number, p.joining_order`;

export const findPositions = (em: EntityManager, circleId: string): Promise<Position[]> =>
  em.execute<Position[]>(query, [circleId]);
