import { refuse } from './errors.ts';
import type { OrganizationStatus } from './organization.ts';
import type { UserType } from './user.ts';

/** The facts that decide whether a token is revoked. */
export interface TokenMark {
  /** The token's `jti`, by which it is revoked. */
  tokenId: string;
  /**
   * The generation of the user's tokens that it belongs to; null for another issuer's token, which is revoked by
   * `issuedAt`.
   */
  generation: number | null;
  /** Null if the issuer does not set it. */
  issuedAt: Date | null;
}

/** The caller of a request, read from the database for this request. */
export interface Caller {
  userId: string;
  userType: UserType;
  organizationId: string | null;
  organizationStatus: OrganizationStatus | null;
  roleId: string | null;
  roleName: string | null;
  permissions: ReadonlySet<string>;
  /** Holds the role `platform_super_admin`. */
  isSuperAdmin: boolean;
  token: TokenMark;
  /** The mark of the session's second factor; null without one. */
  secondFactor: string | null;
  /** When the request arrived, by the database's clock. */
  askedAt: Date;
}

/** The fields that decide which accounts belong to a caller. */
export type Payer = Pick<Caller, 'userId' | 'userType' | 'organizationId'>;

/** Who acts: a caller, or an operator at the command line, who has a super admin's rights but is not a user. */
export type Actor = Pick<Caller, 'isSuperAdmin' | 'organizationId' | 'userType'> & { userId: string | null };
export const operator: Actor = { userId: null, userType: 'platform', isSuperAdmin: true, organizationId: null };

/** The name of the role called "super admin" (docs/contract.md 1). */
export const superAdminRoleName = 'platform_super_admin';

export function isPlatform(caller: Pick<Caller, 'userType'>): boolean {
  return caller.userType === 'platform';
}

/** "Organization admin": a user of type `organization`; the route checks the permission (docs/contract.md 1). */
export function isOrganizationAdmin(caller: Pick<Caller, 'userType'>): boolean {
  return caller.userType === 'organization';
}

/** Throws 403 unless the caller holds the permission; for permissions that depend on the body. */
export function requirePermission(caller: Pick<Caller, 'permissions'>, permission: string): void {
  if (!caller.permissions.has(permission)) refuse('FORBIDDEN', `The permission ${permission} is needed`);
}
