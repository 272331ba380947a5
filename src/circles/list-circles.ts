import type { EntityManager } from '@mikro-orm/postgresql';
import { requireAccountInReach } from '../ledger/find-accounts.ts';
import type { ListWindow } from '../platform/database/find-page.ts';
import { listPage } from '../platform/database/list-page.ts';
import type { Listed } from '../platform/database/position.ts';
import { type Caller, isOrganizationAdmin, isPlatform } from '../shared/caller.ts';
import { refuse } from '../shared/errors.ts';
import { SavingCircle } from './saving-circle.entity.ts';
import type { CircleStatus } from './saving-circle.ts';

export interface CircleFilter extends ListWindow {
  /** Lists every public circle, for any caller. */
  discover?: boolean | undefined;
  status?: CircleStatus | undefined;
  organization_id?: string | undefined;
  user_id?: string | undefined;
  account_id?: string | undefined;
}

interface Condition {
  sql: string;
  params: unknown[];
}

const anyOf = (...conditions: Condition[]): Condition => ({
  sql: conditions.map(({ sql }) => `(${sql})`).join(' or '),
  params: conditions.flatMap(({ params }) => params),
});
const allOf = (...conditions: Condition[]): Condition => ({
  sql: conditions.map(({ sql }) => `(${sql})`).join(' and '),
  params: conditions.flatMap(({ params }) => params),
});

/** Circles that a user created or is a member of: looked up first, because they are few among many. */
const ofUser = (userId: string): Condition => ({
  sql: `row.id in (select id from saving_circles where created_by = ?
    union select saving_circle_id from saving_circle_members where user_id = ?)`,
  params: [userId, userId],
});
/** Those, and new ones that they are asked to join. */
const ofInvited = (userId: string): Condition =>
  anyOf(ofUser(userId), {
    sql: `row.status = 'new' and row.id in (select saving_circle_id from saving_circle_invitations where user_id = ?)`,
    params: [userId],
  });
const ofAccount = (accountId: string): Condition => ({
  sql: `row.id in (select id from saving_circles where account_id = ?
    union select saving_circle_id from saving_circle_members where account_id = ?)`,
  params: [accountId, accountId],
});
/** Circles of an organization and of its users. */
const named = (organizationId: string | null): Condition => ({
  sql: 'row.organization_id = ?',
  params: [organizationId],
});
const shown = (...visibilities: string[]): Condition => ({
  sql: 'row.visibility = any(?::text[])',
  params: [`{${visibilities.join(',')}}`],
});

/**
 * Circles a caller lists: individuals those they created, joined or are asked to join; organization admins also the organization's and
 * those its users show it; the platform all. With `organization_id`, others browse the marketplace: what that
 * organization shows publicly, and to its own users also what is visible to them; individuals may name only their own
 * (docs/contract.md 5).
 */
function scopeOf(caller: Caller, organizationId: string | undefined): Condition[] {
  if (isPlatform(caller)) return organizationId === undefined ? [] : [named(organizationId)];
  const own = caller.organizationId;
  if (isOrganizationAdmin(caller) && (organizationId === undefined || organizationId === own)) {
    const owned = { sql: 'row.owner_id = ?', params: [own] };
    const showing = allOf(named(own), shown('public', 'organization'));
    return [organizationId === undefined ? anyOf(owned, showing, ofUser(caller.userId)) : anyOf(owned, showing)];
  }
  if (organizationId === undefined) return [ofInvited(caller.userId)];
  if (isOrganizationAdmin(caller)) return [named(organizationId), shown('public')];
  if (organizationId !== own) {
    refuse('FORBIDDEN', 'individuals may look into their own organization only', { field: 'organization_id' });
  }
  return [named(own), anyOf(shown('public', 'organization'), ofUser(caller.userId))];
}

const discovery = (organizationId: string | undefined): Condition[] => [
  shown('public'),
  ...(organizationId === undefined ? [] : [named(organizationId)]),
];

/** The filter by user: oneself; for organization admins a user of the organization; for the platform anybody. */
async function userFilter(em: EntityManager, caller: Caller, userId: string): Promise<Condition> {
  if (isPlatform(caller) || userId === caller.userId) return ofUser(userId);
  const users = isOrganizationAdmin(caller)
    ? await em.execute<unknown[]>('select 1 from users where id = ? and organization_id = ?', [
        userId,
        caller.organizationId,
      ])
    : [];
  if (users.length === 0) refuse('FORBIDDEN', 'you may not filter by this user', { field: 'user_id' });
  return ofUser(userId);
}

/** The filter by account: one's own; for organization admins any of the organization or its users; for platform any. */
async function accountFilter(em: EntityManager, caller: Caller, accountId: string): Promise<Condition> {
  await requireAccountInReach(em, caller, accountId);
  return ofAccount(accountId);
}

/** A page of the circles the caller lists. Throws FORBIDDEN for a filter the caller may not use. */
export async function listCircles(
  em: EntityManager,
  caller: Caller,
  { status, organization_id, user_id, account_id, discover, ...page }: CircleFilter,
): Promise<Listed & { circles: SavingCircle[] }> {
  const scope = discover ? discovery(organization_id) : scopeOf(caller, organization_id);
  const within: Condition[] = [{ sql: 'row.deleted_at is null', params: [] }, ...scope];
  const where: Condition[] = [];
  if (user_id !== undefined) where.push(await userFilter(em, caller, user_id));
  if (account_id !== undefined) where.push(await accountFilter(em, caller, account_id));
  if (status !== undefined) where.push({ sql: 'row.status = ?', params: [status] });
  const source = { columns: 'row.*', table: 'saving_circles row', within, where };
  const { rows, ...listed } = await listPage<object>(em, source, page);
  return { circles: rows.map((row) => em.map(SavingCircle, row)), ...listed };
}
