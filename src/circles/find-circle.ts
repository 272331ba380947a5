import type { EntityManager } from '@mikro-orm/postgresql';
import type { Caller } from '../shared/caller.ts';
import { refuse } from '../shared/errors.ts';
import { isOpenTo, mayManageCircle } from './circle-access.ts';
import { CircleMember } from './circle-member.entity.ts';
import { CircleReplacement } from './circle-replacement.entity.ts';
import { refuseUnknownCircle } from './lock-circle.ts';
import { SavingCircle } from './saving-circle.entity.ts';

/** The circle with this id unless it was deleted, or null. */
export async function findCircle(em: EntityManager, id: string): Promise<SavingCircle | null> {
  return em.findOne(SavingCircle, { id, deleted_at: null }, { refresh: true });
}

/**
 * The circle, visible to the caller as creator, admin, member, or by its visibility; with `orInvited` also to whom a
 * place in it is offered, who has to know what to agree to. Throws NOT_FOUND or FORBIDDEN.
 */
export async function getVisibleCircle(
  em: EntityManager,
  caller: Caller,
  id: string,
  { orInvited = false }: { orInvited?: boolean } = {},
): Promise<SavingCircle> {
  const circle = (await findCircle(em, id)) ?? refuseUnknownCircle();
  const isShown = isOpenTo(caller, circle) || (await belongsTo(em, caller, circle));
  if (!isShown && !(orInvited && (await isInvited(em, circle, caller)))) {
    refuse('FORBIDDEN', 'you may not read this saving circle', { field: 'id' });
  }
  return circle;
}

/** Whether the caller is its creator, an admin or a member: only they see whose account is in it, and who owes. */
export async function belongsTo(em: EntityManager, caller: Caller, circle: SavingCircle): Promise<boolean> {
  return mayManageCircle(caller, circle) || isMember(em, circle.id, caller.userId);
}

/** Whether the caller is asked to join a new circle, or somebody's place in a running one is offered to them now. */
export async function isInvited(em: EntityManager, { id, status }: SavingCircle, { userId }: Caller): Promise<boolean> {
  if (status === 'new') {
    const find = 'select 1 from saving_circle_invitations where saving_circle_id = ? and user_id = ?';
    return (await em.execute<unknown[]>(find, [id, userId])).length > 0;
  }
  if (status !== 'active') return false;
  return (await em.count(CircleReplacement, { saving_circle_id: id, user_id: userId, status: 'pending' })) > 0;
}

async function isMember(em: EntityManager, circleId: string, userId: string): Promise<boolean> {
  return (await em.count(CircleMember, { saving_circle_id: circleId, user_id: userId })) > 0;
}
