import type { EntityManager } from '@mikro-orm/postgresql';
import { Account } from '../ledger/accounts/account.entity.ts';
import { mayUseAccount } from '../ledger/may-use-account.ts';
import { recordEvent } from '../platform/events/record-event.ts';
import type { Caller } from '../shared/caller.ts';
import { forEachOf } from '../shared/concurrency.ts';
import { refuse } from '../shared/errors.ts';
import { failpoint } from '../shared/failpoint.ts';
import type { Money } from '../shared/money.ts';
import { isFinal } from '../shared/status-law.ts';
import { mayManageCircle } from './circle-access.ts';
import type { CircleProgress, CircleStep } from './circle-contract.ts';
import { CircleMember } from './circle-member.entity.ts';
import { findProgress } from './find-progress.ts';
import { lockLiveCircle } from './lock-circle.ts';
import { payForMember } from './pay-for-member.ts';
import type { SavingCircle } from './saving-circle.entity.ts';
import { circleLaw } from './saving-circle.ts';
import { guaranteeOf, termsOf } from './terms.ts';

/** A member's order to pay each round when it opens: this amount and no other. */
export interface StandingOrder {
  member_id: string;
  source_account_id: string;
  /** The contribution, IDR, scale 4. */
  amount: Money;
  /** What is debited beside the first contribution; zero once it was given. */
  guarantee_amount: Money;
  created_at: Date;
}

const columns = `id as member_id, source_account_id, amount::text, guarantee_amount::text, created_at`;

interface Ordering {
  caller: Caller;
  circleId: string;
  memberId: string;
  requestId: string;
}

/** How many are paid per step. */
const paidAtOnce = 50;

/**
 * Has each round that opens from now on paid from an account of the member's, replacing an earlier order: the circle's
 * contribution and guarantee as they are now. Throws NOT_FOUND; FORBIDDEN for anybody but the member, and for somebody
 * else's account; 400 once the circle or the place has ended.
 */
export function setStandingOrder(
  em: EntityManager,
  ordering: Ordering & { sourceAccountId: string },
): Promise<StandingOrder> {
  const { caller, circleId, memberId, sourceAccountId } = ordering;
  return em.transactional(async (tx) => {
    const { member, circle } = await getOwnPlace(tx, ordering);
    const account = await tx.findOne(Account, { id: sourceAccountId });
    if (account === null) refuse('NOT_FOUND', 'the account was not found', { field: 'source_account_id' });
    if (!mayUseAccount(caller, account))
      refuse('FORBIDDEN', 'the account is not yours', { field: 'source_account_id' });
    const [order] = await tx.execute<[StandingOrder]>(
      `insert into saving_circle_standing_orders as o (id, source_account_id, amount, guarantee_amount, attempted_turn)
       select ?::uuid, ?::uuid, amount, case when exists (select from saving_circle_contributions c
           where c.member_id = ? and c.status = 'completed' and c.guarantee_amount > 0) then 0 else ?::numeric end,
         case when status = 'active' and next_opens_at is null then current_turn end
       from saving_circles where id = ?
       on conflict (id) do update set source_account_id = excluded.source_account_id, amount = excluded.amount,
         guarantee_amount = excluded.guarantee_amount
       returning ${columns}`,
      [memberId, sourceAccountId, memberId, guaranteeOf(termsOf(circle), circle.amount), circleId],
    );
    const { amount, guarantee_amount } = order;
    await tell(tx, ordering, { standing_order: sourceAccountId, member_id: member.id, amount, guarantee_amount });
    return { ...order, created_at: new Date(order.created_at) };
  });
}

/**
 * Ends a member's standing order and returns it. Throws as `setStandingOrder`, and NOT_FOUND when there is none.
 */
export function endStandingOrder(em: EntityManager, ordering: Ordering): Promise<StandingOrder> {
  return em.transactional(async (tx) => {
    const { member } = await getOwnPlace(tx, ordering);
    const [ended] = await tx.execute<StandingOrder[]>(
      `delete from saving_circle_standing_orders where id = ? returning ${columns}`,
      [member.id],
    );
    if (ended === undefined) refuse('NOT_FOUND', 'the standing order was not found', { field: 'member_id' });
    await tell(tx, ordering, { standing_order: null, member_id: member.id });
    return { ...ended, created_at: new Date(ended.created_at) };
  });
}

async function getOwnPlace(
  tx: EntityManager,
  { caller, circleId, memberId }: Ordering,
): Promise<{ member: CircleMember; circle: SavingCircle }> {
  const circle = await lockLiveCircle(tx, circleId);
  const member = await tx.findOne(CircleMember, { id: memberId, saving_circle_id: circleId }, { refresh: true });
  if (member === null && mayManageCircle(caller, circle)) {
    refuse('NOT_FOUND', 'the member of this saving circle was not found', { field: 'member_id' });
  }
  if (member?.user_id !== caller.userId) {
    refuse('FORBIDDEN', 'only the member can make and end a standing order', { field: 'member_id' });
  }
  if (isFinal(circleLaw, circle.status) || member.excluded_turn) {
    refuse('REQUEST_INVALID', 'no further round opens for this member', { field: 'id' });
  }
  return { member, circle };
}

const tell = (tx: EntityManager, { caller, circleId, requestId }: Ordering, data: object): Promise<void> =>
  recordEvent(tx, {
    event: 'RESOURCE_UPDATED',
    resourceType: 'saving_circle',
    resourceId: circleId,
    actorId: caller.userId,
    requestId,
    data,
  });

/** Standing orders that have not been tried for the open round. */
export const dueOrders = (em: EntityManager, circleId: string): Promise<DueOrder[]> =>
  em.execute<DueOrder[]>(
    `select o.id as "memberId", o.source_account_id as "sourceAccountId", c.current_turn as turn
     from saving_circles c
     join saving_circle_members m on m.saving_circle_id = c.id and m.excluded_turn is null
     join saving_circle_standing_orders o on o.id = m.id and o.attempted_turn is distinct from c.current_turn
     where c.id = ? and c.status = 'active' and c.next_opens_at is null limit ?`,
    [circleId, paidAtOnce],
  );

interface DueOrder {
  memberId: string;
  sourceAccountId: string;
  turn: number;
}

/**
 * Pays the open round by members' standing orders, a batch at a time, each in a transaction of its own and tried once:
 * what a balance does not cover, or is another amount than the order names, is left to the member. Returns the circle's progress; throws when one could not be tried,
 * after the others of the batch were.
 */
export async function payStandingOrders(em: EntityManager, { circleId }: CircleStep): Promise<CircleProgress> {
  await forEachOf(await dueOrders(em, circleId), async ({ memberId, sourceAccountId, turn }) => {
    await payForMember(em.fork(), { circleId, memberId, turn, sourceAccountId });
    await failpoint('pay-standing-orders.paid');
    // One that names another account by now is tried with that.
    await em.execute(
      'update saving_circle_standing_orders set attempted_turn = ? where id = ? and source_account_id = ?',
      [turn, memberId, sourceAccountId],
    );
  });
  return findProgress(em.fork(), circleId);
}
