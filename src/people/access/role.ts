import { type Caller, isPlatform } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import type { UserType } from '../../shared/user.ts';

/** Role types, default roles and rules (docs/contract.md 1). */
export const roleTypes = ['custom', 'default'] as const;
export type RoleType = (typeof roleTypes)[number];

/** The role that a user of this type gets by default. */
export const defaultRoleNames = {
  platform: 'platform_admin',
  organization: 'organization_admin',
  individual: 'individual_user',
} as const satisfies Record<UserType, string>;

export interface RoleFacts {
  name: string;
  organization_id?: string | null | undefined;
  user_type: UserType;
  is_default: boolean;
}

/**
 * Converts `treasury_read-only` to `Treasury Read Only`. The result is never longer than the name: `ß`, whose capital
 * is `SS`, stays.
 */
export function displayNameOf(name: string): string {
  const capital = (start: string) => (start.toUpperCase().length > start.length ? start : start.toUpperCase());
  return name.replaceAll(/[-_\s]+/g, ' ').replaceAll(/(^| )\p{L}/gu, capital);
}

/** Throws 403 for a role of another organization, or a platform role, unless the caller is a platform user. */
export function requireVisibleRole(caller: Caller, role: RoleFacts): void {
  if (isPlatform(caller)) return;
  const visible = role.is_default ? role.user_type !== 'platform' : role.organization_id === caller.organizationId;
  if (!visible) refuse('FORBIDDEN', 'The role belongs to another organization');
}

/** Throws 400 for a default role, 403 for one of another organization. */
export function requireChangeableRole(caller: Caller, role: RoleFacts): void {
  if (role.is_default) refuse('REQUEST_INVALID', `${role.name} is a default role: it cannot be changed or deleted`);
  requireVisibleRole(caller, role);
}

/** Throws 403 if the caller does not hold all of these permissions, which it would grant. */
export function requireGrantable(caller: Caller, permissions: readonly string[]): void {
  const missing = permissions.filter((permission) => !caller.permissions.has(permission));
  if (missing.length > 0) {
    refuse('FORBIDDEN', `Permissions that the caller does not hold cannot be granted: ${missing.join(', ')}`);
  }
}

/**
 * Throws 403 if the caller does not hold all of these permissions, which it would remove, for example from a superior.
 */
export function requireTakeable(caller: Caller, permissions: readonly string[]): void {
  const missing = permissions.filter((permission) => !caller.permissions.has(permission)).toSorted();
  if (missing.length > 0) {
    refuse('FORBIDDEN', `Permissions that the caller does not hold cannot be removed: ${missing.join(', ')}`);
  }
}

export interface RoleHolder {
  user_type: UserType;
  organization_id?: string | null | undefined;
}

/**
 * Throws if the user cannot have the role: 403 for another organization's role, 400 for a platform role. Only platform
 * users may assign a role to a platform user (403), who has access to every organization.
 */
export function requireFittingRole(caller: Pick<Caller, 'userType'>, role: RoleFacts, user: RoleHolder): void {
  if (user.user_type === 'platform') {
    if (!isPlatform(caller)) refuse('FORBIDDEN', 'Only platform users can change users of type platform');
    return;
  }
  if (role.is_default && role.user_type === 'platform') {
    refuse('REQUEST_INVALID', `${role.name} is for users of type platform only`, { field: 'role_id' });
  }
  if (!role.is_default && role.organization_id !== (user.organization_id ?? null)) {
    refuse('FORBIDDEN', 'A role can be given to users of its own organization only');
  }
}
