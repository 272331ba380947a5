import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { canMove } from '../../shared/status-law.ts';
import { thenWake } from '../../shared/then-wake.ts';
import { lockSubscription } from './open-subscription.ts';
import type { Subscription } from './subscription.entity.ts';
import { type SubscriptionWorkflows, subscriptionLaw } from './subscription.ts';

/**
 * Stops a subscription, for its donor: no further period is paid, and its workflow is signalled. One that has ended
 * does not change. Throws NOT_FOUND, and FORBIDDEN when it is another's.
 */
export function stopSubscription(
  em: EntityManager,
  { workflows }: { workflows: Pick<SubscriptionWorkflows, 'wakeSubscription'> },
  { caller, subscriptionId, requestId }: { caller: Caller; subscriptionId: string; requestId: string },
): Promise<Subscription> {
  return thenWake(
    em.transactional(async (tx) => {
      const subscription = await lockSubscription(tx, subscriptionId);
      if (subscription.user_id !== caller.userId) refuse('FORBIDDEN', 'the subscription is not yours', { field: 'id' });
      if (!canMove(subscriptionLaw, subscription.status, 'stopped')) return subscription;
      subscription.status = 'stopped';
      subscription.ended_at = subscription.updated_at = await readDatabaseClock(tx);
      await recordAction(tx, { caller, requestId }, 'RESOURCE_DELETED', ['donation_subscription', subscriptionId]);
      await tx.flush();
      return subscription;
    }),
    () => workflows.wakeSubscription(subscriptionId),
  );
}
