import type { Topology } from './topology.ts';

/**
 * A week is too long for a test: the start of every running subscription is moved a week back, so that its next period
 * is due, and its workflow is woken, as a sweep would in minutes. How often each was moved is recorded.
 */
export async function makePeriodsDue({ owner, deps }: Topology): Promise<void> {
  const rows = await owner().execute<{ id: string }[]>(`
    with moved as (update donation_subscriptions set started_at = started_at - interval '7 days'
      where status = 'active' and interval = 'weekly' returning id)
    insert into torture.periods (subscription_id) select id from moved returning subscription_id as id`);
  await Promise.allSettled(rows.map(({ id }) => deps.workflows.lookAfterSubscription(id)));
}
