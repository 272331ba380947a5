import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import { type Caller, isPlatform } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { User } from '../members/user.entity.ts';
import { lockRole } from './find-role.ts';
import { Role } from './role.entity.ts';
import { requireFittingRole, requireGrantable, requireVisibleRole } from './role.ts';
import { keepAssigner, keepSuperAdmin, requireRightOverHolder, requireTakeable } from './role-holders.ts';
import { findPermissionNames } from './role-permissions.ts';

export interface AssignRoleInput {
  caller: Caller;
  requestId: string;
  userId: string | undefined;
  roleId: string | undefined;
}

/**
 * Gives a user a role, replacing the current one. The caller must hold every permission of both roles (403). Throws 400
 * when no active super admin, or no holder of `assign-role` in the organization, would be left.
 */
export async function assignRole(em: EntityManager, input: AssignRoleInput): Promise<Role> {
  const { caller, requestId, userId, roleId } = input;
  if (userId === undefined) refuse('REQUEST_INVALID', 'is required', { field: 'user_id' });
  if (roleId === undefined) refuse('REQUEST_INVALID', 'is required', { field: 'role_id' });
  return em.transactional(async (tx) => {
    // Lock order: the role before the user, as in every change of either.
    const role = await lockRole(tx, roleId, 'hold');
    const user = await lockUser(tx, caller, userId);
    requireVisibleRole(caller, role);
    requireFittingRole(caller, role, user);
    requireGrantable(caller, await findPermissionNames(tx, roleId));
    await requireRightOverHolder(tx, caller, user);
    if (user.role_id === roleId) return role;
    await takeRole(tx, caller, user);
    await setRole(tx, { user, roleId, caller, requestId });
    return role;
  });
}

/** Removes a user's role and returns it, or null if there was none. Throws as `assignRole` does. */
export async function unassignRole(em: EntityManager, input: Omit<AssignRoleInput, 'roleId'>): Promise<Role | null> {
  const { caller, requestId, userId } = input;
  if (userId === undefined) refuse('REQUEST_INVALID', 'is required', { field: 'user_id' });
  return em.transactional(async (tx) => {
    const user = await lockUser(tx, caller, userId);
    await requireRightOverHolder(tx, caller, user);
    await takeRole(tx, caller, user);
    const role = user.role_id ? await tx.findOne(Role, user.role_id) : null;
    if (role) await setRole(tx, { user, roleId: null, caller, requestId });
    return role;
  });
}

async function lockUser(tx: EntityManager, caller: Caller, userId: string): Promise<User> {
  const user = await tx.findOne(User, userId, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (!user) refuse('NOT_FOUND', 'The user was not found');
  if (!isPlatform(caller) && (user.organization_id ?? null) !== caller.organizationId) {
    refuse('FORBIDDEN', 'The user belongs to another organization');
  }
  if (user.erased_at) refuse('REQUEST_INVALID', 'was erased', { field: 'user_id' });
  return user;
}

/** Throws unless the caller may remove the user's role, and if the user is the last super admin. */
async function takeRole(tx: EntityManager, caller: Caller, user: User): Promise<void> {
  await requireTakeable(tx, caller, user);
  await keepSuperAdmin(tx, caller, user);
}

async function setRole(
  tx: EntityManager,
  { user, roleId, caller, requestId }: { user: User; roleId: string | null; caller: Caller; requestId: string },
): Promise<void> {
  const before = user.role_id ?? null;
  await keepAssigner(tx, { organizationId: user.organization_id ?? null, field: 'user_id' }, async () => {
    tx.assign(user, { role_id: roleId, updated_at: await readDatabaseClock(tx) });
    await tx.flush();
  });
  await recordAction(tx, { caller, requestId }, 'RESOURCE_UPDATED', ['user', user.id], {
    role_id: roleId,
    previous_role_id: before,
  });
}
