import type { EntityManager } from '@mikro-orm/postgresql';
import type { GatewayPaymentWorkflows } from '../money-in/payments/payment-contract.ts';
import { withTime } from '../platform/database/database-time-outs.ts';
import { either, type Sweep, type SweepFailure, sweepRows } from '../platform/housekeeping/sweep-rows.ts';
import { budgets } from '../shared/budgets.ts';
import type { CircleWorkflows } from './circle-contract.ts';
import { endOrder, ordersInTheWay } from './end-orders.ts';
import { minimumMembers } from './saving-circle.ts';

/** A round `r` of a circle `c` that is open, of which something becomes due. */
const isOpen = "r.paid_at is null and c.status = 'active' and c.next_opens_at is null";
const openedBefore = "r.opened_at < now() - interval '1 minute'";
/** A reminder, the report of what is missing, the end of the days of grace, the next remedy: when the next is due, if any is. */
const nextDue = `least(
  case when r.overdue_reported_at is null and r.reminded_at is null then r.due_at - interval '1 day' end,
  case when r.overdue_reported_at is null then r.due_at end,
  case when r.defaulted_at is null then r.due_at + c.grace_days * interval '1 day' end,
  case when c.on_default <> 'wait' and r.defaulted_at is not null
    then coalesce(r.remedied_at + interval '1 day', r.defaulted_at) end)`;
/** Something of it is due, or a standing order was not tried when it opened. */
const isDue = `(coalesce(${nextDue} < now() - interval '1 minute', false)
  or ${openedBefore} and exists (select from saving_circle_members m
    join saving_circle_standing_orders o on o.id = m.id and o.attempted_turn is distinct from c.current_turn
    where m.saving_circle_id = c.id and m.excluded_turn is null))`;
const roundsToLookAt = `from saving_circle_rounds r join saving_circles c on c.id = r.saving_circle_id
  where r.look_at < now() - interval '1 minute'`;

/** A contribution `p` completed the open round of the circle `c`: nobody's is missing. */
const isComplete = `c.status = 'active' and c.next_opens_at is null and p.turn_number = c.current_turn and not exists (
  select from saving_circle_members m where m.saving_circle_id = c.id and m.excluded_turn is null and not exists (
    select from saving_circle_contributions q where q.member_id = m.id and q.turn_number = c.current_turn
      and q.status = 'completed' and q.updated_at < now() - interval '1 minute'))`;
const contributionsToLookAt = `from saving_circle_contributions p join saving_circles c on c.id = p.saving_circle_id
  where p.status = 'completed' and p.swept_at is null and p.updated_at < now() - interval '1 minute'`;

/**
 * Circles that should have moved on a minute ago: they have lost a signal, or their workflow. One set to start on the
 * day of its request may wait for its second member until that day (UTC+7) is over. Reads what is due and what
 * `passOver` has not passed over yet, however many circles are under way.
 */
export const overdueCircles = `
  select id, starts_at as since from saving_circles
  where status = 'new' and starts_at < now() - interval '1 minute' and (
    (select count(*) from saving_circle_members m where m.saving_circle_id = saving_circles.id) >= ${minimumMembers}
    or starts_at = (start_date || case when length(start_date) = 10 then 'T00:00:00+07' else '' end)::timestamptz
    or date_trunc('day', starts_at at time zone 'Asia/Jakarta') < date_trunc('day', now() at time zone 'Asia/Jakarta'))
  union all
  select id, next_opens_at from saving_circles
  where status = 'active' and next_opens_at < now() - interval '1 minute'
  union all
  select c.id, r.due_at ${roundsToLookAt} and ${isOpen} and ${isDue}
  union all
  select c.id, p.updated_at ${contributionsToLookAt} and ${isComplete}`;

/** How much is passed over at a time; the next sweep continues. */
const passedOverAtOnce = 10_000;

/** Passes over rounds of which nothing is due, until something is: no later sweep looks at them before. */
const passOverRounds = (em: EntityManager): Promise<unknown> =>
  em.execute(
    `with idle as (select r.saving_circle_id, r.turn_number, case when ${isOpen} then ${nextDue} end as next
       ${roundsToLookAt} and not (${isOpen} and ${isDue}) order by r.look_at limit ? for no key update of r skip locked)
     update saving_circle_rounds r set look_at = idle.next from idle
     where (r.saving_circle_id, r.turn_number) = (idle.saving_circle_id, idle.turn_number)`,
    [passedOverAtOnce],
  );

/**
 * Passes over contributions that complete no round, for good. One that is committed meanwhile is looked at by itself.
 */
const passOverContributions = (em: EntityManager): Promise<unknown> =>
  em.execute(
    `with seen as (select p.id ${contributionsToLookAt} and not (${isComplete})
       order by p.updated_at limit ? for no key update of p skip locked)
     update saving_circle_contributions p set swept_at = now() from seen where p.id = seen.id`,
    [passedOverAtOnce],
  );

/** Ended by a request whose process may have died before it woke the workflow, which would look again only in a day. */
const endedCircles = `
  select id, ended_at as since from saving_circles
  where status = 'cancelled' and ended_at between now() - interval '15 minutes' and now() - interval '1 minute'`;

/** Orders in the way whose circle was not told so. */
const ordersLeft = `select o.id, c.updated_at as since ${ordersInTheWay} and c.updated_at < now() - interval '1 minute'`;

/**
 * Wakes the workflow of every circle that should have moved on by itself: past its start, a round's opening time, its
 * interval or its grace days, or with everybody paid; and of those a request has ended. A workflow that Temporal lost
 * is started again from its row. Ends orders for contributions that gave way. Returns how many.
 */
export async function sweepCircles(
  em: EntityManager,
  workflows: Pick<CircleWorkflows, 'lookAfterSavingCircle'> & Pick<GatewayPaymentWorkflows, 'hintGatewayPayment'>,
  failed: SweepFailure,
): Promise<number> {
  // One after the other: whoever contributes meanwhile waits for neither.
  await withTime(em, budgets.database.sweep, passOverRounds);
  await withTime(em, budgets.database.sweep, passOverContributions);
  const circles = either(overdueCircles, endedCircles);
  const sweeps: Sweep[] = [
    { kind: 'saving_circle', due: circles, wake: (id) => workflows.lookAfterSavingCircle(id) },
    { kind: 'payment_order', due: ordersLeft, wake: (id) => endOrder(em.fork(), { workflows }, id) },
  ];
  return sweepRows(em, sweeps, failed);
}
