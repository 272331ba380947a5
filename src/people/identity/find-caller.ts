import type { MikroORM } from '@mikro-orm/postgresql';
import { executePrepared } from '../../platform/database/prepared-statements.ts';
import { budgets } from '../../shared/budgets.ts';
import { type Caller, superAdminRoleName } from '../../shared/caller.ts';
import { isDataError } from '../../shared/errors.ts';
import { createGathering } from '../../shared/gather.ts';
import type { OrganizationStatus } from '../../shared/organization.ts';
import type { UserType } from '../../shared/user.ts';
import type { TokenClaims } from './tokens.ts';

/** Returns the caller of a valid token, or null if the user is not active or the token was revoked. */
export type FindCaller = (claims: TokenClaims) => Promise<Caller | null>;

interface CallerRow {
  /** The position of the token in the batch, from 1. */
  number: number;
  user_id: string;
  user_type: UserType;
  organization_id: string | null;
  organization_status: OrganizationStatus | null;
  role_id: string | null;
  role_name: string | null;
  permissions: string | null;
  asked_at: Date | string;
}

const callersOf = 'select * from callers_of(?::uuid[], ?::text[], ?::integer[], ?::timestamptz[])';

/**
 * Looks callers up with one query for concurrent requests, which starts only after all of them have arrived. Throws
 * SERVICE_UNAVAILABLE when the database does not answer in time.
 */
export function createFindCaller(orm: MikroORM): FindCaller {
  // This manager holds no entities and no transaction, so one serves all requests.
  const em = orm.em.fork();
  return createGathering<TokenClaims, Caller | null>({
    async run(asked) {
      const rows = await executePrepared<CallerRow>(em, callersOf, [
        asked.map(({ userId }) => userId),
        asked.map(({ tokenId }) => tokenId),
        asked.map(({ generation }) => generation),
        asked.map(({ issuedAt }) => issuedAt),
      ]);
      const byNumber = new Map(rows.map((row) => [row.number, row]));
      return asked.map((claims, index) => callerOf(claims, byNumber.get(index + 1)));
    },
    isOfOne: isDataError,
    ...budgets.callerLookUp,
  });
}

function callerOf({ userId, secondFactor, ...token }: TokenClaims, row: CallerRow | undefined): Caller | null {
  if (row === undefined) return null;
  // A last safeguard against acting as another user.
  if (row.user_id !== userId.toLowerCase()) throw new Error('the look-up returned a different caller');
  return {
    userId,
    userType: row.user_type,
    organizationId: row.organization_id,
    organizationStatus: row.organization_status,
    roleId: row.role_id,
    roleName: row.role_name,
    permissions: new Set(row.permissions ? row.permissions.split(' ') : []),
    isSuperAdmin: row.user_type === 'platform' && row.role_name === superAdminRoleName,
    token,
    secondFactor,
    askedAt: new Date(row.asked_at),
  };
}
