import type { EntityManager } from '@mikro-orm/postgresql';
import { type Caller, isPlatform } from '../shared/caller.ts';
import { CircleReplacement } from './circle-replacement.entity.ts';
import type { CircleDescription } from './describe-circle.ts';

/**
 * The proposals for places in a circle to which somebody may still agree, oldest first: those that the caller made, or
 * which concern the caller as the new or the leaving member; all for the platform. None where the circle is not active.
 */
export async function findReplacements(
  em: EntityManager,
  caller: Caller,
  { circle, members }: Pick<CircleDescription, 'circle' | 'members'>,
): Promise<CircleReplacement[]> {
  if (circle.status !== 'active') return [];
  const { userId } = caller;
  const concerned = { $or: [{ user_id: userId }, { leaving_user_id: userId }, { proposed_by: userId }] };
  const found = await em.find(
    CircleReplacement,
    { saving_circle_id: circle.id, status: 'pending', ...(isPlatform(caller) ? {} : concerned) },
    { orderBy: { created_at: 'asc', id: 'asc' } },
  );
  const ended = new Set(members.filter(({ excluded_turn }) => excluded_turn).map(({ id }) => id));
  return found.filter(({ member_id }) => !ended.has(member_id));
}
