import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { changesTo } from '../../shared/changes.ts';
import { refuse } from '../../shared/errors.ts';
import { isUniqueViolation } from '../../shared/postgres.ts';
import { lockRole } from './find-role.ts';
import type { Role } from './role.entity.ts';
import { displayNameOf, requireChangeableRole, requireGrantable, requireTakeable } from './role.ts';
import { keepAssigner, requireRightOverHolders } from './role-holders.ts';
import {
  findPermissionNames,
  removePermissions,
  replacePermissions,
  requireKnownPermissions,
} from './role-permissions.ts';

export interface UpdateRoleInput {
  caller: Caller;
  requestId: string;
  roleId: string;
  name?: string | undefined;
  description?: string | undefined;
  /** Replaces the whole set. */
  permissions?: readonly string[] | undefined;
}

/** Changes a custom role. Only platform users may change the permissions of a role that platform users hold. */
export async function updateRole(em: EntityManager, input: UpdateRoleInput): Promise<Role> {
  const { caller, requestId, roleId, name, description } = input;
  try {
    return await em.transactional(async (tx) => {
      const role = await lockRole(tx, roleId, 'change');
      requireChangeableRole(caller, role);
      const texts = changesTo<{ name: string; description: string }>(role, { name, description });
      const permissions = await changedPermissions(tx, caller, { roleId, asked: input.permissions });
      const changes = { ...texts, ...(permissions && { permissions }) };
      if (Object.keys(changes).length === 0) return role;
      if (permissions) {
        await requireRightOverHolders(tx, caller, roleId);
        await keepAssigner(tx, { organizationId: role.organization_id ?? null, field: 'permissions' }, () =>
          replacePermissions(tx, roleId, permissions),
        );
      }
      if (texts.name !== undefined) role.display_name = displayNameOf(texts.name);
      tx.assign(role, { ...texts, updated_by: caller.userId, updated_at: await readDatabaseClock(tx) });
      await tx.flush();
      const data = { changed: Object.keys(changes), ...(permissions && { permissions }) };
      await recordRoleUpdate(tx, { roleId, actorId: caller.userId, requestId, data });
      return role;
    });
  } catch (error) {
    if (isUniqueViolation(error))
      refuse('DUPLICATE', `a role named ${name} already exists`, { field: 'name', cause: error });
    throw error;
  }
}

/**
 * Returns the new set of permissions, or null if it is absent or unchanged. Throws if the caller may not grant or
 * remove one of them.
 */
async function changedPermissions(
  tx: EntityManager,
  caller: Caller,
  { roleId, asked }: { roleId: string; asked: readonly string[] | undefined },
): Promise<string[] | null> {
  if (asked === undefined) return null;
  const permissions = await requireKnownPermissions(tx, asked);
  requireGrantable(caller, permissions);
  const held = new Set(await findPermissionNames(tx, roleId));
  requireTakeable(
    caller,
    [...held].filter((permission) => !permissions.includes(permission)),
  );
  const isSame = held.size === permissions.length && permissions.every((permission) => held.has(permission));
  return isSame ? null : permissions;
}

export interface DetachPermissionsInput {
  caller: Caller;
  requestId: string;
  roleId: string;
  permissions: readonly string[];
}

/** Removes permissions from a custom role; those it does not hold are ignored and record no event. */
export async function detachPermissions(em: EntityManager, input: DetachPermissionsInput): Promise<void> {
  const { caller, requestId, roleId } = input;
  await em.transactional(async (tx) => {
    const role = await lockRole(tx, roleId, 'change');
    requireChangeableRole(caller, role);
    const asked = await requireKnownPermissions(tx, input.permissions);
    const held = new Set(await findPermissionNames(tx, roleId));
    const permissions = asked.filter((permission) => held.has(permission));
    if (permissions.length === 0) return;
    requireTakeable(caller, permissions);
    await requireRightOverHolders(tx, caller, roleId);
    await keepAssigner(tx, { organizationId: role.organization_id ?? null, field: 'permissions' }, () =>
      removePermissions(tx, roleId, permissions),
    );
    tx.assign(role, { updated_by: caller.userId, updated_at: await readDatabaseClock(tx) });
    await tx.flush();
    await recordRoleUpdate(tx, { roleId, actorId: caller.userId, requestId, data: { detached: permissions } });
  });
}

function recordRoleUpdate(
  tx: EntityManager,
  { roleId, actorId, requestId, data }: { roleId: string; actorId: string; requestId: string; data: object },
): Promise<void> {
  return recordAction(tx, { actorId, requestId }, 'RESOURCE_UPDATED', ['role', roleId], data);
}
