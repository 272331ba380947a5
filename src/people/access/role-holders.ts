import type { EntityManager } from '@mikro-orm/postgresql';
import { type Actor, type Caller, isPlatform, superAdminRoleName } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import type { User } from '../members/user.entity.ts';
import { Role } from './role.entity.ts';
import { findPermissionNames } from './role-permissions.ts';

/** Throws 403 when the user is a super admin and the caller is not. */
export async function requireRightOverHolder(tx: EntityManager, caller: Actor, user: User): Promise<void> {
  if (caller.isSuperAdmin || user.user_type !== 'platform' || !user.role_id) return;
  const role = await tx.findOne(Role, user.role_id);
  if (role?.name === superAdminRoleName) refuse('FORBIDDEN', 'Only a super admin can change a super admin');
}

/** Throws 400 if the user is the last active super admin, except for an operator at the command line. */
export async function keepSuperAdmin(tx: EntityManager, caller: Actor, user: User): Promise<void> {
  if (caller.userId === null || user.user_type !== 'platform' || user.status !== 'active' || !user.role_id) return;
  const role = await tx.findOne(Role, user.role_id);
  if (role?.name !== superAdminRoleName) return;
  // Removals are serialized, so that two super admins removed at once do not each count the other as remaining.
  await tx.execute("select pg_advisory_xact_lock(hashtext('super admins'))");
  const others = "select from users where role_id = ? and id <> ? and user_type = 'platform' and status = 'active'";
  const [left] = await tx.execute<[{ some: boolean }]>(`select exists (${others}) as some`, [role.id, user.id]);
  if (!left.some) refuse('REQUEST_INVALID', 'this is the last super admin', { field: 'user_id' });
}

/**
 * Throws 403 if users of type platform, who have access to every organization, hold the role and the caller is not one.
 * Runs in the caller's transaction, which has locked the role.
 */
export async function requireRightOverHolders(tx: EntityManager, caller: Caller, roleId: string): Promise<void> {
  if (isPlatform(caller)) return;
  const held = "select 1 from users where role_id = ? and user_type = 'platform' limit 1";
  if ((await tx.execute<unknown[]>(held, [roleId])).length > 0) {
    refuse('FORBIDDEN', 'Users of type platform hold the role: only platform users can change its permissions');
  }
}

/** Throws 403 unless the caller holds every permission of the user's role. */
export async function requireTakeable(tx: EntityManager, caller: Caller, user: User): Promise<void> {
  if (!user.role_id) return;
  const missing = (await findPermissionNames(tx, user.role_id)).filter((name) => !caller.permissions.has(name));
  if (missing.length > 0) {
    refuse('FORBIDDEN', `The user holds a role with permissions that the caller does not hold: ${missing.join(', ')}`);
  }
}

const assigners = `select exists (select from users u join roles r on r.id = u.role_id
  join role_permissions rp on rp.role_id = r.id join permissions p on p.id = rp.permission_id
  where u.organization_id = ? and u.user_type = 'organization' and u.status = 'active' and p.name = 'assign-role') as some`;

/**
 * Runs a change of roles. Throws 400 on the field if the change removes the organization's last holder of
 * `assign-role`: nobody in it could assign roles any more.
 */
export async function keepAssigner(
  tx: EntityManager,
  { organizationId, field }: { organizationId: string | null; field: string },
  change: () => Promise<void>,
): Promise<void> {
  if (organizationId === null) return change();
  // Removals are serialized, so that two holders removed at once do not each count the other as remaining.
  await tx.execute("select pg_advisory_xact_lock(hashtext('assigners'), hashtext(?))", [organizationId]);
  const hasAssigner = async () => (await tx.execute<[{ some: boolean }]>(assigners, [organizationId]))[0].some;
  const before = await hasAssigner();
  await change();
  if (before && !(await hasAssigner())) {
    refuse('REQUEST_INVALID', 'the organization would be left without a holder of assign-role', { field });
  }
}
