import type { EntityManager } from '@mikro-orm/postgresql';
import type { Context } from 'koa';
import { executePrepared } from '../database/prepared-statements.ts';
import type { Dependencies } from '../dependencies.ts';
import type { OrganizationStatus } from '../organizations/organization.ts';
import { refuse } from '../shared/errors.ts';
import { type Caller, superAdminRoleName } from './caller.ts';
import type { TokenClaims } from './tokens.ts';
import type { UserType } from './user.ts';

/** The cookie that carries an access token for browsers. */
export const accessCookie = 'access_token';

export interface PresentedToken {
  token: string;
  by: 'bearer' | 'cookie';
}

const callerOf = 'select * from caller_of(?, ?, ?::integer, ?::timestamptz)';

interface CallerRow {
  user_type: UserType;
  organization_id: string | null;
  organization_status: OrganizationStatus | null;
  role_id: string | null;
  role_name: string | null;
  permissions: string | null;
}

/** The token of a request: `Authorization` before the cookie; null when there is neither. */
export function presentedToken(ctx: Context): PresentedToken | null {
  const header = ctx.get('authorization');
  if (header !== '') {
    const [, token] = /^Bearer +([\w.~+/=-]+) *$/i.exec(header) ?? [];
    return { token: token ?? '', by: 'bearer' };
  }
  const cookie = ctx.cookies.get(accessCookie);
  return cookie ? { token: cookie, by: 'cookie' } : null;
}

/**
 * Who asks: the token is verified without the database, everything else (user and organization status, role,
 * permissions, revocation) is one call of `caller_of`. Refuses with 401; with 403 for a request that changes something
 * by cookie from a foreign origin (decisions 1).
 */
export async function authenticate(
  { ctx, em, deps }: { ctx: Context; em: EntityManager; deps: Pick<Dependencies, 'tokens'> },
  origins: ReadonlySet<string>,
): Promise<Caller> {
  const presented = presentedToken(ctx);
  if (!presented) refuse('UNAUTHENTICATED', 'A token is needed');
  const caller = await findCaller(em, await deps.tokens.verify(presented.token));
  if (!caller) refuse('UNAUTHENTICATED', 'The token is not valid');
  const changes = !['GET', 'HEAD', 'OPTIONS'].includes(ctx.method);
  if (presented.by === 'cookie' && changes && !origins.has(ctx.get('origin'))) {
    refuse('FORBIDDEN', 'A request that changes something by cookie needs the Origin of this site');
  }
  return caller;
}

/** The caller behind a valid token; null when the user is not active or the token has been ended. One query. */
async function findCaller(em: EntityManager, claims: TokenClaims): Promise<Caller | null> {
  const { userId, tokenId, generation, issuedAt, secondFactor } = claims;
  const [row] = await executePrepared<CallerRow>(em, callerOf, [userId, tokenId, generation, issuedAt]);
  if (!row) return null;
  return {
    userId,
    userType: row.user_type,
    organizationId: row.organization_id,
    organizationStatus: row.organization_status,
    roleId: row.role_id,
    roleName: row.role_name,
    permissions: new Set(row.permissions ? row.permissions.split(' ') : []),
    isSuperAdmin: row.user_type === 'platform' && row.role_name === superAdminRoleName,
    tokenId,
    secondFactor,
  };
}
