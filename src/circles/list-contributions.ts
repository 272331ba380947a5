import type { EntityManager } from '@mikro-orm/postgresql';
import { findPage, type ListWindow } from '../platform/database/find-page.ts';
import type { Listed } from '../platform/database/position.ts';
import type { Caller } from '../shared/caller.ts';
import { mayManageCircle } from './circle-access.ts';
import { CircleContribution } from './circle-contribution.entity.ts';
import { CircleMember } from './circle-member.entity.ts';
import { getOwnCircle } from './find-circle.ts';

/**
 * A page of a circle's contributions, newest first, and their total number: for a member its own, for creator and
 * admins everybody's. Throws NOT_FOUND, and FORBIDDEN for anybody else.
 */
export async function listContributions(
  em: EntityManager,
  caller: Caller,
  { circleId, ...window }: ListWindow & { circleId: string },
): Promise<Listed & { items: CircleContribution[] }> {
  const circle = await getOwnCircle(em, caller, circleId);
  const own = mayManageCircle(caller, circle) ? {} : await ownContributions(em, circleId, caller.userId);
  return findPage(em, CircleContribution, { saving_circle_id: circleId, ...own }, window);
}

/** What a member paid, for themselves or another, and what others paid for them. */
async function ownContributions(em: EntityManager, circleId: string, userId: string) {
  const member = await em.findOne(CircleMember, { saving_circle_id: circleId, user_id: userId });
  return { $or: [{ user_id: userId }, ...(member === null ? [] : [{ member_id: member.id }])] };
}
