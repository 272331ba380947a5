import type { EntityManager } from '@mikro-orm/postgresql';
import { either, type SweepFailure, sweepRows } from '../../platform/housekeeping/sweep-rows.ts';
import type { SubscriptionWorkflows } from './subscription.ts';

/** Active subscriptions whose next attempt, at a due period or a day after a refusal or a postponement, is late. */
export const overdueSubscriptions = `select id, since from (
    select s.id, greatest(s.due_at, s.postponed_at + interval '1 day', (select max(a.created_at) + interval '1 day' from donation_subscription_attempts a
      where a.subscription_id = s.id and a.period = s.periods_paid)) as since
    from donation_subscriptions s where s.status = 'active' and s.due_at < now() - interval '5 minutes') next
  where since < now() - interval '5 minutes'`;

/**
 * Subscriptions stopped 1 to 40 minutes ago. The process may have died before it signalled the workflow, which may
 * sleep for weeks.
 */
const stoppedSubscriptions = `select id, ended_at as since from donation_subscriptions
  where status = 'stopped' and ended_at between now() - interval '40 minutes' and now() - interval '1 minute'`;

/**
 * Signals the workflow of every subscription with a late attempt or a recent stop, or restarts a lost workflow. Returns
 * how many.
 */
export function sweepSubscriptions(
  em: EntityManager,
  workflows: Pick<SubscriptionWorkflows, 'lookAfterSubscription'>,
  failed: SweepFailure,
): Promise<number> {
  const wake = (id: string) => workflows.lookAfterSubscription(id);
  return sweepRows(
    em,
    [{ kind: 'donation_subscription', due: either(overdueSubscriptions, stoppedSubscriptions), wake }],
    failed,
  );
}
