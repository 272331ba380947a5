import type { EntityManager } from '@mikro-orm/postgresql';
import type { GatewayPaymentWorkflows } from '../money-in/payments/payment-contract.ts';
import { readDatabaseClock } from '../platform/database/database-clock.ts';
import { either, forgetLooks, type Sweep, type SweepFailure, sweepRows } from '../platform/housekeeping/sweep-rows.ts';
import { textArray } from '../shared/postgres.ts';
import type { CircleProgress, CircleWorkflows } from './circle-contract.ts';
import { endOrder, ordersInTheWay } from './end-orders.ts';
import { findProgress } from './find-progress.ts';
import { minimumMembers } from './saving-circle.ts';

const aMinuteAgo = "now() - interval '1 minute'";
const unswept = `from saving_circle_contributions where status = 'completed' and swept_at is null and updated_at < ${aMinuteAgo}`;

/**
 * Circles whose next step may be a minute overdue because a signal or their workflow was lost. A circle set to start on
 * the day of its request may wait for its second member until the end of that day (UTC+7). Reads only rounds and
 * contributions that `lookAfter` has not marked, however many circles are active.
 */
export const overdueCircles = `
  select id, starts_at as since from saving_circles
  where status = 'new' and starts_at < ${aMinuteAgo} and (
    (select count(*) from saving_circle_members m where m.saving_circle_id = saving_circles.id) >= ${minimumMembers}
    or starts_at = (start_date || case when length(start_date) = 10 then 'T00:00:00+07' else '' end)::timestamptz
    or date_trunc('day', starts_at at time zone 'Asia/Jakarta') < date_trunc('day', now() at time zone 'Asia/Jakarta'))
  union all
  select id, next_opens_at from saving_circles
  where status = 'active' and next_opens_at < ${aMinuteAgo}
  union all
  select saving_circle_id, look_at from saving_circle_rounds where look_at < ${aMinuteAgo}
  union all
  select saving_circle_id, updated_at ${unswept}`;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/**
 * Returns when a circle's next step is due or is checked again, in epoch milliseconds, or null while it waits only for
 * members.
 */
function movesOnAt(circle: CircleProgress, now: number): number | null {
  if (circle.phase === 'ended') return circle.status === 'cancelled' ? 0 : null;
  if (circle.next !== null) return Date.parse(circle.next.at);
  // The signal that an order became final may be lost.
  return circle.phase === 'collecting' && circle.round.facts.hasOrders ? now + hourMs : null;
}

/**
 * Signals the workflow of a circle whose next step is a minute overdue. Otherwise, or if the circle is cancelled,
 * records when sweeps must look at its round again, and that they need not look at its contributions.
 */
async function lookAfter(
  em: EntityManager,
  { lookAfterSavingCircle }: Pick<CircleWorkflows, 'lookAfterSavingCircle'>,
  id: string,
): Promise<void> {
  const seen = await em.execute<{ id: string }[]>(`select id ${unswept} and saving_circle_id = ?`, [id]);
  const circle = await findProgress(em, id);
  const now = (await readDatabaseClock(em)).getTime();
  const at = movesOnAt(circle, now);
  const isDue = at !== null && at < now - minuteMs;
  if (isDue) await lookAfterSavingCircle(id);
  if (isDue && circle.phase !== 'ended') return;
  const lookAt = circle.phase === 'collecting' && at !== null ? new Date(at) : null;
  await em.transactional(async (tx) => {
    await tx.execute(
      `update saving_circle_rounds set look_at = case when paid_at is null then ?::timestamptz end
       where saving_circle_id = ? and look_at is not null`,
      [lookAt, id],
    );
    const contributions = textArray(seen.map((contribution) => contribution.id));
    await tx.execute('update saving_circle_contributions set swept_at = now() where id = any(?::uuid[])', [
      contributions,
    ]);
    if (!isDue) await forgetLooks(tx, 'saving_circle', [id]);
  });
}

/**
 * Circles cancelled by a request that may have died before it signalled the workflow, which would check only a day
 * later.
 */
const endedCircles = `
  select id, ended_at as since from saving_circles
  where status = 'cancelled' and ended_at between now() - interval '15 minutes' and now() - interval '1 minute'`;

/** Superseded orders that are still open. */
const ordersLeft = `select o.id, c.updated_at as since ${ordersInTheWay} and c.updated_at < now() - interval '1 minute'`;

/**
 * Signals the workflow of each overdue circle and of those cancelled by a request, restarting it from the row if
 * Temporal lost it. Cancels superseded orders. Returns how many rows it handled.
 */
export async function sweepCircles(
  em: EntityManager,
  workflows: Pick<CircleWorkflows, 'lookAfterSavingCircle'> & Pick<GatewayPaymentWorkflows, 'hintGatewayPayment'>,
  failed: SweepFailure,
): Promise<number> {
  const circles = either(overdueCircles, endedCircles);
  const sweeps: Sweep[] = [
    { kind: 'saving_circle', due: circles, wake: (id) => lookAfter(em.fork(), workflows, id) },
    { kind: 'payment_order', due: ordersLeft, wake: (id) => endOrder(em.fork(), { workflows }, id) },
  ];
  return sweepRows(em, sweeps, failed);
}
