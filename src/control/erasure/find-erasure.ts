import type { EntityManager } from '@mikro-orm/postgresql';
import { refuse } from '../../shared/errors.ts';
import { Erasure } from './erasure.entity.ts';

/** The latest erasure of a person. Throws NOT_FOUND when there is none. */
export async function getErasure(em: EntityManager, userId: string): Promise<Erasure> {
  const [erasure] = await em.find(
    Erasure,
    { user_id: userId },
    { orderBy: { begun_at: 'desc', id: 'desc' }, limit: 1 },
  );
  return erasure ?? refuse('NOT_FOUND', 'the user is not being erased');
}
