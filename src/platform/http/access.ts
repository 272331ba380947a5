import type { UserType } from '../../shared/user.ts';

/**
 * Who may use a route: declared with it, checked before its handler, shown in the permission matrix and OpenAPI.
 * `scope` describes the accessible rows in words; the use case enforces it.
 */
export interface Allow {
  kind: 'allow';
  /** Any of these permissions suffices. */
  permissions: readonly string[];
  userTypes: readonly UserType[] | undefined;
  /** A role that is also required. */
  role: 'platform_super_admin' | undefined;
  scope: string;
}
export interface SignedIn {
  kind: 'signed in';
  userTypes: readonly UserType[] | undefined;
  scope: string;
  /** Why no permission is declared, for example because the body decides which one. */
  note: string | undefined;
  /** Also open to users of a read-only organization (logout). */
  whenReadOnly: boolean;
}
export interface Open {
  kind: 'open';
  note: string | undefined;
}
export interface PartnerAccess {
  kind: 'partner';
  permission: string;
  /** Whether a write needs only the signature over its body, unless the key requires the one over the whole request. */
  bodySignatureSuffices: boolean;
}
export type Access = Allow | SignedIn | Open | PartnerAccess;

export interface AllowOptions {
  userTypes?: readonly UserType[];
  role?: 'platform_super_admin';
  scope: string;
}

/** The caller needs the permission, or any one of several. */
export function allow(permission: string | readonly string[], { userTypes, role, scope }: AllowOptions): Allow {
  const permissions = typeof permission === 'string' ? [permission] : permission;
  return { kind: 'allow', permissions, userTypes, role, scope };
}

/** The caller needs a valid token and no permission (or one that the body decides; `note` says so). */
export function signedIn(options: {
  userTypes?: readonly UserType[];
  scope: string;
  note?: string;
  whenReadOnly?: boolean;
}): SignedIn {
  const { userTypes, scope, note, whenReadOnly = false } = options;
  return { kind: 'signed in', userTypes, scope, note, whenReadOnly };
}

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Whether requests with this method are read-only. */
export const isSafe = (method: string): boolean => safeMethods.has(method.toUpperCase());

/** Whether a partner's request with this method always needs the signature over the whole request. */
export const needsWholeSignature = ({ bodySignatureSuffices }: PartnerAccess, method: string): boolean =>
  !isSafe(method) && !bodySignatureSuffices;

/** Open to anyone, without a token. */
export function open(note?: string): Open {
  return { kind: 'open', note };
}

/**
 * The caller needs a partner's API key with this permission (docs/contract.md 8). Writes need the signature over the
 * whole request, except creating payments and payouts, and quotes.
 */
export function partner(permission: string, { bodySignatureSuffices = false } = {}): PartnerAccess {
  return { kind: 'partner', permission, bodySignatureSuffices };
}
