import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { requireOperator } from '../../money-out/decisions/carry-out.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { Erasure } from './erasure.entity.ts';

/**
 * Stops a waiting erasure. Throws NOT_FOUND if the person has none, REQUEST_INVALID if the person has already been
 * erased, and FORBIDDEN or UNAUTHENTICATED if the permission or the session has ended since.
 */
export async function stopErasure(
  em: EntityManager,
  { caller, userId, requestId }: { caller: Caller; userId: string; requestId: string },
): Promise<Erasure> {
  return em.transactional(async (tx) => {
    const under = { user_id: userId, status: { $ne: 'stopped' as const } };
    const erasure = await tx.findOne(Erasure, under, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
    await requireOperator(tx, caller, 'propose-decision');
    if (erasure === null) refuse('NOT_FOUND', 'The user is not being erased');
    if (erasure.status !== 'waiting') {
      refuse('REQUEST_INVALID', 'the user has been erased; this cannot be undone', { field: 'user_id' });
    }
    await tx.execute("update erasures set status = 'stopped', ended_at = now() where id = ?", [erasure.id]);
    await recordAction(tx, { caller, requestId }, ['ERASURE_STOPPED', 'HIGH'], ['user', userId]);
    return tx.findOneOrFail(Erasure, { id: erasure.id }, { refresh: true });
  });
}

/** Returns the latest erasure of a person. Throws NOT_FOUND when there is none. */
export async function getErasure(em: EntityManager, userId: string): Promise<Erasure> {
  const [erasure] = await em.find(
    Erasure,
    { user_id: userId },
    { orderBy: { begun_at: 'desc', id: 'desc' }, limit: 1 },
  );
  return erasure ?? refuse('NOT_FOUND', 'The user is not being erased');
}
