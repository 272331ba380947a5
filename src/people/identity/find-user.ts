import type { EntityManager } from '@mikro-orm/postgresql';
import type { ListWindow } from '../../platform/database/find-page.ts';
import { listPage } from '../../platform/database/list-page.ts';
import type { Listed } from '../../platform/database/position.ts';
import { recordReadOfOthers } from '../../platform/events/record-event.ts';
import { type Caller, isPlatform } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import type { UserStatus, UserType } from '../../shared/user.ts';
import { User } from '../members/user.entity.ts';

/**
 * Returns the user, if the caller may see it: platform any (recorded as an event), others themselves and users of their
 * organization. Throws 404, 403.
 */
export async function getVisibleUser(
  em: EntityManager,
  { caller, userId, requestId }: { caller: Caller; userId: string; requestId: string },
): Promise<User> {
  const user = await em.findOne(User, userId);
  if (!user) refuse('NOT_FOUND', 'The user was not found');
  const isColleague = caller.organizationId !== null && user.organization_id === caller.organizationId;
  if (!isPlatform(caller) && !isColleague && userId !== caller.userId) {
    refuse('FORBIDDEN', 'The user belongs to another organization');
  }
  await recordReadOfOthers(em, caller, { resourceType: 'user', resourceId: userId, ownerId: userId, requestId });
  return user;
}

export interface ListUsersInput extends ListWindow {
  caller: Caller;
  requestId: string;
  /** Honoured for platform callers only. */
  organizationId?: string | undefined;
  userType?: UserType | undefined;
  status?: UserStatus | undefined;
}

/** Users that the caller may see: platform all (recorded as an event), others those of their organization. */
export async function listUsers(em: EntityManager, input: ListUsersInput): Promise<Listed & { users: User[] }> {
  const { caller, requestId, organizationId, userType, status, ...page } = input;
  const scope = isPlatform(caller) ? organizationId : caller.organizationId;
  const within = scope === undefined ? [] : [{ sql: 'row.organization_id = ?::uuid', params: [scope] }];
  const where: { sql: string; params: unknown[] }[] = [];
  if (userType !== undefined) where.push({ sql: 'row.user_type = ?', params: [userType] });
  if (status !== undefined) where.push({ sql: 'row.status = ?', params: [status] });
  const { rows, ...listed } = await listPage<object>(em, { columns: 'row.*', table: 'users row', within, where }, page);
  await recordReadOfOthers(em, caller, { resourceType: 'user', resourceId: null, ownerId: null, requestId });
  return { users: rows.map((row) => em.map(User, row)), ...listed };
}
