import type { EntityManager } from '@mikro-orm/postgresql';
import { either, type SweepFailure, sweepRows } from '../housekeeping/sweep-rows.ts';
import type { CircleWorkflows } from './circle-contract.ts';
import { minimumMembers } from './saving-circle.ts';

/**
 * Circles that should have moved on a minute ago: they have lost a signal, or their workflow. One set to start on the
 * day of its request may wait for its second member until that day (UTC+7) is over.
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
  select c.id, r.due_at from saving_circles c
  join saving_circle_rounds r on r.saving_circle_id = c.id and r.paid_at is null
  where c.status = 'active' and c.next_opens_at is null and (
    r.overdue_reported_at is null and r.due_at < now() - interval '1 minute'
    or r.overdue_reported_at is null and r.reminded_at is null and r.due_at < now() + interval '1 day' - interval '1 minute'
    or r.defaulted_at is null and r.due_at + c.grace_days * interval '1 day' < now() - interval '1 minute'
    or c.on_default <> 'wait' and r.defaulted_at is not null
      and coalesce(r.remedied_at + interval '1 day', r.defaulted_at) < now() - interval '1 minute'
    or r.opened_at < now() - interval '1 minute' and exists (select from saving_circle_members m
      join saving_circle_standing_orders o on o.id = m.id and o.attempted_turn is distinct from c.current_turn
      where m.saving_circle_id = c.id and m.excluded_turn is null))
  union all
  select c.id, (select max(p.updated_at) from saving_circle_contributions p
    where p.saving_circle_id = c.id and p.turn_number = c.current_turn)
  from saving_circles c
  where c.status = 'active' and c.next_opens_at is null and not exists (
    select from saving_circle_members m where m.saving_circle_id = c.id and m.excluded_turn is null and not exists (
      select from saving_circle_contributions p where p.member_id = m.id
        and p.turn_number = c.current_turn and p.status = 'completed'
        and p.updated_at < now() - interval '1 minute'))`;

/** Ended by a request whose process may have died before it woke the workflow, which would look again only in a day. */
const endedCircles = `
  select id, ended_at as since from saving_circles
  where status = 'cancelled' and ended_at between now() - interval '15 minutes' and now() - interval '1 minute'`;

/**
 * Wakes the workflow of every circle that should have moved on by itself: past its start, a round's opening time, its
 * interval or its grace days, or with everybody paid; and of those a request has ended. A workflow that Temporal lost
 * is started again from its row. Returns how many.
 */
export function sweepCircles(
  em: EntityManager,
  workflows: Pick<CircleWorkflows, 'lookAfterSavingCircle'>,
  failed: SweepFailure,
): Promise<number> {
  const wake = (id: string) => workflows.lookAfterSavingCircle(id);
  return sweepRows(em, [{ kind: 'saving_circle', due: either(overdueCircles, endedCircles), wake }], failed);
}
