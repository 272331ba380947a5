import type { Topology } from './topology.ts';

/**
 * Makes the next period of every active weekly subscription due: moves its start back by a week and signals its
 * workflow, as a sweep would within minutes. Records each move.
 */
export async function makePeriodsDue({ owner, deps }: Topology): Promise<void> {
  const rows = await owner().execute<{ id: string }[]>(`
    with moved as (update donation_subscriptions set started_at = started_at - interval '7 days'
      where status = 'active' and interval = 'weekly' returning id)
    insert into torture.periods (subscription_id) select id from moved returning subscription_id as id`);
  await Promise.allSettled(rows.map(({ id }) => deps.workflows.lookAfterSubscription(id)));
}
