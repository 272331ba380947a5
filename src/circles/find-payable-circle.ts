import type { EntityManager } from '@mikro-orm/postgresql';
import { budgets } from '../shared/budgets.ts';
import { refuse } from '../shared/errors.ts';
import { addMoney, compareMoney, type Money } from '../shared/money.ts';
import type { CircleStatus } from './saving-circle.ts';
import { guaranteeOf, type TermsColumns } from './terms.ts';

interface Paying {
  circleId: string;
  userId: string;
  /** The member whose contribution it is; the payer if null or absent. */
  onBehalfOf?: string | null | undefined;
  /** IDR: the contribution; with `inAll` it includes the guarantee due with it. */
  amount: Money;
  inAll?: boolean;
  /** Whether it is a gateway order. */
  isOrder?: boolean;
}

/** A circle as a paying member sees it. */
interface Row extends TermsColumns {
  holdingAccountId: string;
  turn: number;
  memberId: string | null;
  /** Whether the payer is the member. */
  isOwn: boolean;
  /** The account with which the payer joined. */
  payerAccountId: string | null;
  /** IDR, scale 4. */
  contribution: Money;
  status: CircleStatus;
  isOpen: boolean;
  excludedTurn: number | null;
  contributed: 'pending' | 'completed' | null;
  isGuaranteed: boolean;
  /** When orders expire at the latest; null means no limit. */
  ordersEndAt: string | null;
  ordersEnded: boolean;
}

// Orders expire with the grace period, so that none is open when a default is settled. Under `wait` new orders may
// follow.
const ordersEndAt = `case when c.on_default <> 'wait' or r.defaulted_at is null
  then r.due_at + c.grace_days * interval '1 day' end`;

// A member's own payment supersedes an unpaid order of somebody else for them, including its guarantee.
const query = `select c.holding_account_id as "holdingAccountId", c.amount::numeric(20, 4)::text as contribution, c.status,
    c.current_turn as turn, c.grace_days, c.on_default, c.guarantee_percent, m.id as "memberId",
    m.excluded_turn as "excludedTurn", c.status = 'active' and c.next_opens_at is null as "isOpen",
    (select p.account_id from saving_circle_members p where p.saving_circle_id = c.id and p.user_id = ?)
      as "payerAccountId",
    m.user_id = ? as "isOwn", o.contributed, o.guaranteed as "isGuaranteed", ${ordersEndAt} as "ordersEndAt",
    ${ordersEndAt} is not null and (r.defaulted_at is not null
      or ${ordersEndAt} <= clock_timestamp() + ? * interval '1 millisecond') as "ordersEnded"
  from saving_circles c
  left join saving_circle_rounds r on (r.saving_circle_id, r.turn_number) = (c.id, c.current_turn)
  left join saving_circle_members m on m.saving_circle_id = c.id
    and case when ?::uuid is null then m.user_id = ? else m.id = ? end
  cross join lateral (select max(p.status) filter (where p.turn_number = c.current_turn) as contributed,
      count(*) filter (where p.guarantee_amount > 0) > 0 as guaranteed
    from saving_circle_contributions p where p.member_id = m.id and p.status in ('pending', 'completed')
      and (p.status = 'completed' or p.user_id = ? or m.user_id <> ?)) o
  where c.id = ? and c.deleted_at is null`;

export const refuseRepeat = (status: string): never =>
  refuse('DUPLICATE', `the member already has a ${status} contribution for this turn`, {
    field: 'reference_id',
  });

/**
 * Returns the circle, if the user may contribute this amount to it now. Throws NOT_FOUND for an unknown circle or
 * member; FORBIDDEN for users without a place; 400 while no round is open, for a repeat (DUPLICATE), for an order near
 * or after the end of the grace period, and for another amount. Error fields are named as in the payments dispatcher.
 * `total` (IDR, scale 4) is the contribution plus, with a member's first one, the guarantee.
 */
export async function getPayableCircle(em: EntityManager, paying: Paying) {
  const { circleId, userId, amount } = paying;
  const onBehalfOf = paying.onBehalfOf ?? null;
  const [row] = await em.execute<Row[]>(query, [
    ...[userId, userId, budgets.contribution.lastOrder],
    ...[onBehalfOf, userId, onBehalfOf],
    ...[userId, userId, circleId],
  ]);
  if (row === undefined) refuse('NOT_FOUND', 'the saving circle was not found', { field: 'reference_id' });
  const { memberId, payerAccountId, contribution, excludedTurn, status } = row;
  if (payerAccountId === null) {
    refuse('FORBIDDEN', 'you are not a member of this saving circle', { field: 'reference_id' });
  }
  if (memberId === null) {
    refuse('NOT_FOUND', 'the member of this saving circle was not found', { field: 'on_behalf_of' });
  }
  if (excludedTurn !== null) {
    refuse('FORBIDDEN', `the member's place in this saving circle has ended`, {
      field: onBehalfOf === null ? 'reference_id' : 'on_behalf_of',
    });
  }
  if (!row.isOpen) {
    const state = status === 'active' ? 'between rounds' : status;
    refuse('REQUEST_INVALID', `no round is open: the saving circle is ${state}`, { field: 'reference_id' });
  }
  if (row.contributed !== null) refuseRepeat(row.contributed);
  if (paying.isOrder && row.ordersEnded) {
    refuse('REQUEST_INVALID', 'the grace period has ended or is about to end: contribute from a balance', {
      field: 'payment_id',
    });
  }
  const guarantee = row.isGuaranteed ? '0.0000' : guaranteeOf(row, contribution);
  const total = addMoney(contribution, guarantee);
  const expected = paying.inAll ? total : contribution;
  if (compareMoney(amount, expected) !== 0) {
    refuse('REQUEST_INVALID', `must be ${expected} for this saving circle`, { field: 'amount' });
  }
  const ordersEndAt = row.ordersEndAt === null ? null : new Date(row.ordersEndAt);
  return { ...row, memberId, payerAccountId, guarantee, total, ordersEndAt };
}
