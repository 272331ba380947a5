import type { EntityManager } from '@mikro-orm/postgresql';
import { refuse } from '../shared/errors.ts';
import { compareMoney, formatMoney, type Money } from '../shared/money.ts';
import type { CircleStatus } from './saving-circle.ts';

/** A circle as somebody who wants to contribute meets it. */
export interface PayableCircle {
  holdingAccountId: string;
  turn: number;
  memberId: string;
  /** The account that the member joined with. */
  memberAccountId: string;
}

interface Row {
  holding_account_id: string;
  amount: Money;
  status: CircleStatus;
  current_turn: number;
  round_open: boolean;
  member_id: string | null;
  account_id: string | null;
  contributed: 'pending' | 'completed' | null;
}

const query = `select c.holding_account_id, c.amount::text, c.status, c.current_turn, m.id as member_id, m.account_id,
    c.status = 'active' and c.next_opens_at is null as round_open,
    (select p.status from saving_circle_contributions p where p.saving_circle_id = c.id and p.user_id = m.user_id
       and p.turn_number = c.current_turn and p.status in ('pending', 'completed')) as contributed
  from saving_circles c left join saving_circle_members m on m.saving_circle_id = c.id and m.user_id = ?
  where c.id = ? and c.deleted_at is null`;

export const refuseRepeat = (status: string): never =>
  refuse('DUPLICATE', `you have a ${status} contribution for this turn already`, { field: 'reference_id' });

/**
 * The circle that a user may contribute this amount (IDR) to now. Refuses with NOT_FOUND; with FORBIDDEN who is not a
 * member; with 400 while no round is open, another amount than the circle's, and a repeat (DUPLICATE). Fields are
 * called as the payments dispatcher calls them.
 */
export async function getPayableCircle(
  em: EntityManager,
  { circleId, userId, amount }: { circleId: string; userId: string; amount: Money },
): Promise<PayableCircle> {
  const [row] = await em.execute<Row[]>(query, [userId, circleId]);
  if (row === undefined) refuse('NOT_FOUND', 'no such saving circle', { field: 'reference_id' });
  if (row.member_id === null || row.account_id === null) {
    refuse('FORBIDDEN', 'you are not a member of this saving circle', { field: 'reference_id' });
  }
  if (!row.round_open) {
    const state = row.status === 'active' ? 'between rounds' : row.status;
    refuse('REQUEST_INVALID', `no round is open, the saving circle is ${state}`, { field: 'reference_id' });
  }
  if (compareMoney(amount, row.amount) !== 0) {
    refuse('REQUEST_INVALID', `a contribution to this saving circle is ${formatMoney(row.amount)}`, {
      field: 'amount',
    });
  }
  if (row.contributed !== null) return refuseRepeat(row.contributed);
  return {
    holdingAccountId: row.holding_account_id,
    turn: row.current_turn,
    memberId: row.member_id,
    memberAccountId: row.account_id,
  };
}
