import type { EntityManager } from '@mikro-orm/postgresql';
import type { CircleWorkflows } from './circle-contract.ts';
import { minimumMembers } from './saving-circle.ts';

/** A circle that should have moved on this long ago has lost a signal or its workflow. */
const graceSeconds = 60;
/** How many a sweep wakes; the next one goes on. */
const sweepLimit = 500;

// One that began on the day on which that was said may wait for its second member until this day (UTC+7) is over.
const query = `
  select c.id from saving_circles c
  where c.status = 'new' and c.starts_at < now() - make_interval(secs => ?) and (
    (select count(*) from saving_circle_members m where m.saving_circle_id = c.id) >= ${minimumMembers}
    or c.starts_at = (c.start_date || case when length(c.start_date) = 10 then 'T00:00:00+07' else '' end)::timestamptz
    or date_trunc('day', c.starts_at at time zone 'Asia/Jakarta') < date_trunc('day', now() at time zone 'Asia/Jakarta'))
  union all
  select c.id from saving_circles c
  where c.status = 'active' and c.next_opens_at < now() - make_interval(secs => ?)
  union all
  select c.id from saving_circles c
  join saving_circle_rounds r on r.saving_circle_id = c.id and r.paid_at is null
  where c.status = 'active' and c.next_opens_at is null and r.overdue_reported_at is null
    and r.due_at < now() - make_interval(secs => ?)
  union all
  select c.id from saving_circles c
  where c.status = 'active' and c.next_opens_at is null and not exists (
    select from saving_circle_members m where m.saving_circle_id = c.id and not exists (
      select from saving_circle_contributions p where p.saving_circle_id = c.id and p.user_id = m.user_id
        and p.turn_number = c.current_turn and p.status = 'completed'
        and p.updated_at < now() - make_interval(secs => ?)))
  limit ?`;

/**
 * Wakes the workflow of every circle that should have moved on by itself: past its start, past the hour of a round, past
 * its interval, or with everybody paid. One that Temporal lost is started again from its row. Returns how many.
 */
export async function sweepCircles(em: EntityManager, workflows: CircleWorkflows): Promise<number> {
  const rows = await em.execute<{ id: string }[]>(query, [
    graceSeconds,
    graceSeconds,
    graceSeconds,
    graceSeconds,
    sweepLimit,
  ]);
  for (const { id } of rows) await workflows.wakeSavingCircle(id, 'circleChanged');
  return rows.length;
}
