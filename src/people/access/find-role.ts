import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { ListWindow } from '../../platform/database/find-page.ts';
import { listPage } from '../../platform/database/list-page.ts';
import type { Listed } from '../../platform/database/position.ts';
import { must } from '../../shared/assert.ts';
import { type Caller, isPlatform } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import type { UserType } from '../../shared/user.ts';
import { Role } from './role.entity.ts';
import { type RoleType, requireVisibleRole } from './role.ts';

/** Returns the role. Throws 404 if it is missing or deleted. */
export async function getRole(em: EntityManager, roleId: string): Promise<Role> {
  const role = await em.findOne(Role, { id: roleId, deleted_at: null });
  return role ?? refuse('NOT_FOUND', 'The role was not found');
}

/** Returns the role. Throws 404 if it is missing, 403 if it belongs to another organization. */
export async function getVisibleRole(em: EntityManager, caller: Caller, roleId: string): Promise<Role> {
  const role = await getRole(em, roleId);
  requireVisibleRole(caller, role);
  return role;
}

/**
 * Locks the role until the transaction ends and reads it afresh: `change` exclusively, `hold` with a shared lock, which
 * prevents only changing or deleting it, so that it can be assigned to many users at once.
 */
export async function lockRole(tx: EntityManager, roleId: string, purpose: 'change' | 'hold'): Promise<Role> {
  const lockMode = purpose === 'change' ? LockMode.PESSIMISTIC_WRITE : LockMode.PESSIMISTIC_READ;
  const role = await tx.findOne(Role, { id: roleId, deleted_at: null }, { lockMode, refresh: true });
  return role ?? refuse('NOT_FOUND', 'The role was not found');
}

/** Returns a default role by its name. */
export async function getDefaultRole(em: EntityManager, name: string): Promise<Role> {
  return must(await em.findOne(Role, { name, is_default: true }), `the default role ${name} is seeded`);
}

export interface ListRolesInput extends ListWindow {
  caller: Caller;
  /** Honoured for platform callers only. */
  organizationId?: string | undefined;
  roleType?: RoleType | undefined;
  userType?: UserType | undefined;
}

/**
 * Returns the roles that the caller may see: platform all; others those of their organization and the default roles
 * that are not for platform users.
 */
export async function listRoles(em: EntityManager, input: ListRolesInput): Promise<Listed & { roles: Role[] }> {
  const { caller, organizationId, roleType, userType, ...page } = input;
  const within: { sql: string; params?: unknown[] }[] = [{ sql: 'row.deleted_at is null' }];
  const where: typeof within = [];
  if (!isPlatform(caller)) {
    within.push({
      // Default roles have no organization; one index serves both conditions.
      sql: `row.organization_id = ? or (row.organization_id is null and row.user_type <> 'platform')`,
      params: [caller.organizationId],
    });
  } else if (organizationId !== undefined) {
    within.push({ sql: 'row.organization_id = ?', params: [organizationId] });
  }
  if (roleType !== undefined) where.push({ sql: 'row.is_default = ?', params: [roleType === 'default'] });
  if (userType !== undefined) where.push({ sql: 'row.user_type = ?', params: [userType] });
  const { rows, ...listed } = await listPage<object>(em, { columns: 'row.*', table: 'roles row', within, where }, page);
  return { roles: rows.map((row) => em.map(Role, row)), ...listed };
}
