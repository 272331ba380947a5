import type { EntityManager } from '@mikro-orm/postgresql';
import { type Caller, isOrganizationAdmin, isPlatform } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';

/**
 * Throws FORBIDDEN unless the caller may filter by this user: everybody by themselves, organization admins by users of
 * the organization, platform by anybody.
 */
export async function requireUserInReach(em: EntityManager, caller: Caller, userId: string): Promise<void> {
  if (isPlatform(caller) || userId === caller.userId) return;
  const ofOrganization = 'select 1 from users where id = ? and organization_id = ?';
  const users = isOrganizationAdmin(caller)
    ? await em.execute<unknown[]>(ofOrganization, [userId, caller.organizationId])
    : [];
  if (users.length === 0) refuse('FORBIDDEN', 'you may not filter by this user', { field: 'user_id' });
}
