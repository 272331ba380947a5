import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '../events/record-event.ts';
import type { Caller } from '../identity/caller.ts';
import { refuse } from '../shared/errors.ts';
import { isUniqueViolation } from '../shared/postgres.ts';
import { lockRole } from './find-role.ts';
import type { Role } from './role.entity.ts';
import { displayNameOf, requireChangeableRole, requireGrantable } from './role.ts';
import { keepAssigner } from './role-holders.ts';
import { removePermissions, replacePermissions, requireKnownPermissions } from './role-permissions.ts';

export interface UpdateRoleInput {
  caller: Caller;
  requestId: string;
  roleId: string;
  name?: string | undefined;
  description?: string | undefined;
  /** Replaces the whole set. */
  permissions?: readonly string[] | undefined;
}

/** Changes a custom role; its set of permissions is replaced as a whole. */
export async function updateRole(em: EntityManager, input: UpdateRoleInput): Promise<Role> {
  const { caller, requestId, roleId, name, description } = input;
  try {
    return await em.transactional(async (tx) => {
      const role = await lockRole(tx, roleId, 'change');
      requireChangeableRole(caller, role);
      if (name !== undefined) tx.assign(role, { name, display_name: displayNameOf(name) });
      if (description !== undefined) role.description = description;
      if (input.permissions !== undefined) {
        const permissions = await requireKnownPermissions(tx, input.permissions);
        requireGrantable(caller, permissions);
        await keepAssigner(tx, { organizationId: role.organization_id ?? null, field: 'permissions' }, () =>
          replacePermissions(tx, roleId, permissions),
        );
      }
      tx.assign(role, { updated_by: caller.userId, updated_at: new Date() });
      await tx.flush();
      const changed = (['name', 'description', 'permissions'] as const).filter((field) => input[field] !== undefined);
      const granted = input.permissions ? { permissions: input.permissions } : {};
      await recordRoleUpdate(tx, { roleId, actorId: caller.userId, requestId, data: { changed, ...granted } });
      return role;
    });
  } catch (error) {
    if (isUniqueViolation(error)) refuse('DUPLICATE', `name: there is a role named ${name} already`, { cause: error });
    throw error;
  }
}

export interface DetachPermissionsInput {
  caller: Caller;
  requestId: string;
  roleId: string;
  permissions: readonly string[];
}

/** Takes permissions from a custom role. */
export async function detachPermissions(em: EntityManager, input: DetachPermissionsInput): Promise<void> {
  const { caller, requestId, roleId } = input;
  await em.transactional(async (tx) => {
    const role = await lockRole(tx, roleId, 'change');
    requireChangeableRole(caller, role);
    const permissions = await requireKnownPermissions(tx, input.permissions);
    await keepAssigner(tx, { organizationId: role.organization_id ?? null, field: 'permissions' }, () =>
      removePermissions(tx, roleId, permissions),
    );
    tx.assign(role, { updated_by: caller.userId, updated_at: new Date() });
    await tx.flush();
    await recordRoleUpdate(tx, { roleId, actorId: caller.userId, requestId, data: { detached: permissions } });
  });
}

function recordRoleUpdate(
  tx: EntityManager,
  { roleId, actorId, requestId, data }: { roleId: string; actorId: string; requestId: string; data: object },
): Promise<void> {
  return recordEvent(tx, {
    event: 'RESOURCE_UPDATED',
    resourceType: 'role',
    resourceId: roleId,
    actorId,
    requestId,
    data,
  });
}
