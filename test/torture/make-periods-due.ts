import type { Topology } from './topology.ts';

/**
 * A week is too long for a test: the start of every active subscription is moved back by a week, so that its next
 * period is due, and its workflow is signalled, as a sweep would within minutes. The number of moves is recorded.
 */
export async function makePeriodsDue({ owner, deps }: Topology): Promise<void> {
  const rows = await owner().execute<{ id: string }[]>(`
    with moved as (update donation_subscriptions set started_at = started_at - interval '7 days'
      where status = 'active' and interval = 'weekly' returning id)
    insert into torture.periods (subscription_id) select id from moved returning subscription_id as id`);
  await Promise.allSettled(rows.map(({ id }) => deps.workflows.lookAfterSubscription(id)));
}
