import type { EntityManager } from '@mikro-orm/postgresql';
import type { CircleWorkflows } from './circle-contract.ts';

/** A circle that should have moved on this long ago has lost a signal or its workflow. */
const graceSeconds = 60;
/** How many a sweep wakes; the next one goes on. */
const sweepLimit = 500;

const query = `
  select id from saving_circles
  where status = 'new' and starts_at < now() - make_interval(secs => ?)
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
