import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '../events/record-event.ts';
import { type Actor, type Caller, isPlatform, superAdminRoleName } from '../identity/caller.ts';
import { User } from '../identity/user.entity.ts';
import { refuse } from '../shared/errors.ts';
import { lockRole } from './find-role.ts';
import { Role } from './role.entity.ts';
import { requireFittingRole, requireGrantable, requireVisibleRole } from './role.ts';
import { findPermissionNames } from './role-permissions.ts';

export interface AssignRoleInput {
  caller: Caller;
  requestId: string;
  userId: string | undefined;
  roleId: string | undefined;
}

/** Gives a role to a user. Grants its permissions: the caller must hold every one (403). */
export async function assignRole(em: EntityManager, input: AssignRoleInput): Promise<Role> {
  const { caller, requestId, userId, roleId } = input;
  if (userId === undefined) refuse('REQUEST_INVALID', 'user_id: is required');
  if (roleId === undefined) refuse('REQUEST_INVALID', 'role_id: is required');
  return em.transactional(async (tx) => {
    // The role is locked before the user, here and everywhere.
    const role = await lockRole(tx, roleId, 'hold');
    const user = await lockUser(tx, caller, userId);
    requireVisibleRole(caller, role);
    requireFittingRole(role, user);
    requireGrantable(caller, await findPermissionNames(tx, roleId));
    await requireRightOverHolder(tx, caller, user);
    if (user.role_id !== roleId) await keepSuperAdmin(tx, caller, user);
    await setRole(tx, { user, roleId, caller, requestId });
    return role;
  });
}

/** Detaches the role of a user; answers the role that was detached, null when there was none. */
export async function unassignRole(em: EntityManager, input: Omit<AssignRoleInput, 'roleId'>): Promise<Role | null> {
  const { caller, requestId, userId } = input;
  if (userId === undefined) refuse('REQUEST_INVALID', 'user_id: is required');
  return em.transactional(async (tx) => {
    const user = await lockUser(tx, caller, userId);
    await requireRightOverHolder(tx, caller, user);
    await keepSuperAdmin(tx, caller, user);
    const role = user.role_id ? await tx.findOne(Role, user.role_id) : null;
    if (role) await setRole(tx, { user, roleId: null, caller, requestId });
    return role;
  });
}

async function lockUser(tx: EntityManager, caller: Caller, userId: string): Promise<User> {
  const user = await tx.findOne(User, userId, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (!user) refuse('NOT_FOUND', 'The user does not exist');
  if (!isPlatform(caller) && (user.organization_id ?? null) !== caller.organizationId) {
    refuse('FORBIDDEN', 'The user belongs to another organization');
  }
  return user;
}

/** Who is no super admin has no say over one. */
export async function requireRightOverHolder(tx: EntityManager, caller: Actor, user: User): Promise<void> {
  if (caller.isSuperAdmin || user.user_type !== 'platform' || !user.role_id) return;
  const role = await tx.findOne(Role, user.role_id);
  if (role?.name === superAdminRoleName) refuse('FORBIDDEN', 'Only a super admin decides over a super admin');
}

/** Refuses with 400 to take the last active super admin away; an operator at the command line may. */
export async function keepSuperAdmin(tx: EntityManager, caller: Actor, user: User): Promise<void> {
  if (caller.userId === null || user.user_type !== 'platform' || user.status !== 'active' || !user.role_id) return;
  const role = await tx.findOne(Role, user.role_id);
  if (role?.name !== superAdminRoleName) return;
  // One after another: two super admins must not each count the other while both go.
  await tx.execute("select pg_advisory_xact_lock(hashtext('super admins'))");
  const others = "select from users where role_id = ? and id <> ? and user_type = 'platform' and status = 'active'";
  const [left] = await tx.execute<[{ some: boolean }]>(`select exists (${others}) as some`, [role.id, user.id]);
  if (!left.some) refuse('REQUEST_INVALID', 'user_id: this is the last super admin');
}

async function setRole(
  tx: EntityManager,
  { user, roleId, caller, requestId }: { user: User; roleId: string | null; caller: Caller; requestId: string },
): Promise<void> {
  const before = user.role_id ?? null;
  tx.assign(user, { role_id: roleId, updated_at: new Date() });
  await tx.flush();
  await recordEvent(tx, {
    event: 'RESOURCE_UPDATED',
    resourceType: 'user',
    resourceId: user.id,
    actorId: caller.userId,
    requestId,
    data: { role_id: roleId, previous_role_id: before },
  });
}
