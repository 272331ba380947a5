import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { refuse } from '../shared/errors.ts';
import { SavingCircle } from './saving-circle.entity.ts';

export const refuseUnknownCircle = (): never => refuse('NOT_FOUND', 'the saving circle was not found', { field: 'id' });

/** The circle's row, deleted or not, locked exclusively until the transaction ends. Throws NOT_FOUND. */
export async function lockCircle(tx: EntityManager, id: string): Promise<SavingCircle> {
  const lockMode = LockMode.PESSIMISTIC_WRITE;
  return (await tx.findOne(SavingCircle, { id }, { lockMode, refresh: true })) ?? refuseUnknownCircle();
}

/** As `lockCircle`, for requests: a deleted circle is NOT_FOUND. */
export async function lockLiveCircle(tx: EntityManager, id: string): Promise<SavingCircle> {
  const circle = await lockCircle(tx, id);
  return circle.deleted_at ? refuseUnknownCircle() : circle;
}

/** As `lockCircle`, but shared: contributions do not wait for each other, only for changes of the circle. */
export async function shareCircle(tx: EntityManager, id: string): Promise<SavingCircle> {
  const lockMode = LockMode.PESSIMISTIC_READ;
  return (await tx.findOne(SavingCircle, { id }, { lockMode, refresh: true })) ?? refuseUnknownCircle();
}
