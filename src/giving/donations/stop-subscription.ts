import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { canMove } from '../../shared/status-law.ts';
import { thenWake } from '../../shared/then-wake.ts';
import { lockSubscription } from './open-subscription.ts';
import { Subscription } from './subscription.entity.ts';
import { type SubscriptionWorkflows, subscriptionLaw } from './subscription.ts';

/**
 * Stops a subscription, for its donor, and signals its workflow: no further period is paid. Does not change an ended
 * subscription. Throws NOT_FOUND, and FORBIDDEN if it is someone else's.
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
      await stop(tx, subscription, { actorId: caller.userId, requestId });
      return subscription;
    }),
    () => workflows.wakeSubscription(subscriptionId),
  );
}

/** Stops every subscription of the user, in the caller's transaction; the sweep signals their workflows. */
export async function stopSubscriptionsOf(
  tx: EntityManager,
  { userId, requestId }: { userId: string; requestId: string },
): Promise<void> {
  const active = await tx.find(
    Subscription,
    { user_id: userId, status: 'active' },
    { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { id: 'asc' }, refresh: true },
  );
  for (const subscription of active) await stop(tx, subscription, { actorId: userId, requestId });
}

async function stop(
  tx: EntityManager,
  subscription: Subscription,
  by: { actorId: string; requestId: string },
): Promise<void> {
  subscription.status = 'stopped';
  subscription.ended_at = subscription.updated_at = await readDatabaseClock(tx);
  await recordAction(tx, by, 'RESOURCE_DELETED', ['donation_subscription', subscription.id]);
  await tx.flush();
}
