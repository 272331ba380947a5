import type { EntityManager } from '@mikro-orm/postgresql';
import { findPage, type ListWindow } from '../../platform/database/find-page.ts';
import type { Listed } from '../../platform/database/position.ts';
import { type Caller, isPlatform } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { Subscription } from './subscription.entity.ts';

/** A page of the caller's own subscriptions, newest first. */
export const findSubscriptions = (
  em: EntityManager,
  caller: Caller,
  window: ListWindow,
): Promise<Listed & { items: Subscription[] }> => findPage(em, Subscription, { user_id: caller.userId }, window);

/** Returns the subscription with this id, or null. */
export const findSubscription = (em: EntityManager, id: string): Promise<Subscription | null> =>
  em.findOne(Subscription, { id }, { refresh: true });

/** Returns a subscription, for its donor and for platform. Throws NOT_FOUND, and FORBIDDEN if it is someone else's. */
export async function getSubscription(em: EntityManager, caller: Caller, id: string): Promise<Subscription> {
  const subscription = await findSubscription(em, id);
  if (subscription === null) return refuse('NOT_FOUND', 'the subscription was not found', { field: 'id' });
  if (subscription.user_id !== caller.userId && !isPlatform(caller)) {
    refuse('FORBIDDEN', 'the subscription is not yours', { field: 'id' });
  }
  return subscription;
}
