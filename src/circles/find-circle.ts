import type { EntityManager } from '@mikro-orm/postgresql';
import type { Caller } from '../shared/caller.ts';
import { refuse } from '../shared/errors.ts';
import { refuseUnknownCircle } from './change-circle.ts';
import { isOpenTo, mayManageCircle } from './circle-access.ts';
import { CircleMember } from './circle-member.entity.ts';
import { CircleReplacement } from './circle-replacement.entity.ts';
import { SavingCircle } from './saving-circle.entity.ts';

/**
 * A circle as a caller sees it. Strangers (neither creator, admin nor member) see neither accounts nor who has not
 * paid.
 */
export interface SeenCircle {
  circle: SavingCircle;
  isStranger: boolean;
}

async function seeCircle(em: EntityManager, caller: Caller, id: string): Promise<SeenCircle> {
  const circle = (await em.findOne(SavingCircle, { id, deleted_at: null }, { refresh: true })) ?? refuseUnknownCircle();
  const place = { saving_circle_id: id, user_id: caller.userId };
  return { circle, isStranger: !mayManageCircle(caller, circle) && (await em.count(CircleMember, place)) === 0 };
}

/**
 * Returns a circle for its creator, admins, members and everybody to whom it is open; with `orInvited` also for users
 * who are invited or offered a place, so that they know what they agree to. Throws NOT_FOUND or FORBIDDEN.
 */
export async function getVisibleCircle(
  em: EntityManager,
  caller: Caller,
  id: string,
  { orInvited = false }: { orInvited?: boolean } = {},
): Promise<SeenCircle> {
  const seen = await seeCircle(em, caller, id);
  const isShown = !seen.isStranger || isOpenTo(caller, seen.circle);
  if (!isShown && !(orInvited && (await isInvited(em, seen.circle, caller)))) {
    refuse('FORBIDDEN', 'you may not read this saving circle', { field: 'id' });
  }
  return seen;
}

/** Returns a circle, for its creator, admins and members. Throws NOT_FOUND, and FORBIDDEN for anybody else. */
export async function getOwnCircle(em: EntityManager, caller: Caller, id: string): Promise<SavingCircle> {
  const { circle, isStranger } = await seeCircle(em, caller, id);
  return isStranger ? refuse('FORBIDDEN', 'you are not a member of this saving circle', { field: 'id' }) : circle;
}

/** Returns whether the caller is invited to a new circle, or is now offered a member's place in an active one. */
export async function isInvited(em: EntityManager, { id, status }: SavingCircle, { userId }: Caller): Promise<boolean> {
  if (status === 'new') {
    const find = 'select 1 from saving_circle_invitations where saving_circle_id = ? and user_id = ?';
    return (await em.execute<unknown[]>(find, [id, userId])).length > 0;
  }
  if (status !== 'active') return false;
  return (await em.count(CircleReplacement, { saving_circle_id: id, user_id: userId, status: 'pending' })) > 0;
}
