import type { EntityManager } from '@mikro-orm/postgresql';
import type { z } from 'zod';
import { requireAccountInReach } from '../ledger/find-accounts.ts';
import { requireUserInReach } from '../people/members/user-in-reach.ts';
import { findPage, type ListWindow } from '../platform/database/find-page.ts';
import { listPage } from '../platform/database/list-page.ts';
import type { Listed } from '../platform/database/position.ts';
import { type Caller, isOrganizationAdmin, isPlatform } from '../shared/caller.ts';
import { refuse } from '../shared/errors.ts';
import { mayManageCircle } from './circle-access.ts';
import { CircleContribution } from './circle-contribution.entity.ts';
import { CircleMember } from './circle-member.entity.ts';
import type { CircleQuery } from './circle-shape.ts';
import { getOwnCircle } from './find-circle.ts';
import { SavingCircle } from './saving-circle.entity.ts';

interface Condition {
  sql: string;
  params?: unknown[];
}

/** Circles that a user created or belongs to; a subquery, because they are few. */
const ofUser = `row.id in (select id from saving_circles where created_by = ?
  union select saving_circle_id from saving_circle_members where user_id = ?)`;
/** The user's circles, and new ones to which they are invited. */
const ofInvited = `(${ofUser}) or (row.status = 'new'
  and row.id in (select saving_circle_id from saving_circle_invitations where user_id = ?))`;
const ofAccount = `row.id in (select id from saving_circles where account_id = ?
  union select saving_circle_id from saving_circle_members where account_id = ?)`;
/** Circles of an organization and its users. */
const named = 'row.organization_id = ?';
const isPublic = "row.visibility = 'public'";
const isShown = "row.visibility in ('public', 'organization')";

/**
 * Returns the conditions for the circles that a caller may list. Individuals: those they created, joined or are invited
 * to. Organization admins: those too, the organization's own, and its users' circles that are visible to it. Platform:
 * all. With `organization_id`: that organization's public circles and, for its users, those visible to them;
 * individuals may name only their own.
 */
function scopeOf(caller: Caller, organizationId: string | undefined): Condition[] {
  const { userId, organizationId: own } = caller;
  const their = [userId, userId];
  if (isPlatform(caller)) return organizationId === undefined ? [] : [{ sql: named, params: [organizationId] }];
  if (isOrganizationAdmin(caller) && (organizationId === undefined || organizationId === own)) {
    const showing = `row.owner_id = ? or (${named} and ${isShown})`;
    return organizationId === undefined
      ? [{ sql: `${showing} or ${ofInvited}`, params: [own, own, ...their, userId] }]
      : [{ sql: showing, params: [own, own] }];
  }
  if (organizationId === undefined) return [{ sql: ofInvited, params: [...their, userId] }];
  if (isOrganizationAdmin(caller)) return [{ sql: `${named} and ${isPublic}`, params: [organizationId] }];
  if (organizationId !== own) {
    refuse('FORBIDDEN', 'individuals may read their own organization only', { field: 'organization_id' });
  }
  return [{ sql: `${named} and (${isShown} or ${ofUser})`, params: [own, ...their] }];
}

/**
 * Returns a page of the circles that the caller may list. Throws FORBIDDEN for a filter that the caller may not use.
 */
export async function listCircles(
  em: EntityManager,
  caller: Caller,
  { status, organization_id, user_id, account_id, discover, ...page }: z.output<typeof CircleQuery>,
): Promise<Listed & { circles: SavingCircle[] }> {
  const ofOrganization = organization_id === undefined ? [] : [{ sql: named, params: [organization_id] }];
  const scope = discover ? [{ sql: isPublic }, ...ofOrganization] : scopeOf(caller, organization_id);
  const within: Condition[] = [{ sql: 'row.deleted_at is null' }, ...scope];
  const where: Condition[] = [];
  if (user_id !== undefined) {
    await requireUserInReach(em, caller, user_id);
    where.push({ sql: ofUser, params: [user_id, user_id] });
  }
  if (account_id !== undefined) {
    await requireAccountInReach(em, caller, account_id);
    where.push({ sql: ofAccount, params: [account_id, account_id] });
  }
  if (status !== undefined) where.push({ sql: 'row.status = ?', params: [status] });
  const source = { columns: 'row.*', table: 'saving_circles row', within, where };
  const { rows, ...listed } = await listPage<object>(em, source, page);
  return { circles: rows.map((row) => em.map(SavingCircle, row)), ...listed };
}

/**
 * Returns a page of a circle's contributions, newest first, and their total number: a member's own, or all for creator
 * and admins. Throws NOT_FOUND, and FORBIDDEN for anybody else.
 */
export async function listContributions(
  em: EntityManager,
  caller: Caller,
  { circleId, ...window }: ListWindow & { circleId: string },
): Promise<Listed & { items: CircleContribution[] }> {
  const circle = await getOwnCircle(em, caller, circleId);
  const own = mayManageCircle(caller, circle) ? {} : await ownContributions(em, circleId, caller.userId);
  return findPage(em, CircleContribution, { saving_circle_id: circleId, ...own }, window);
}

/** Returns the condition for contributions that a member paid, for anybody, or that others paid for them. */
async function ownContributions(em: EntityManager, circleId: string, userId: string) {
  const member = await em.findOne(CircleMember, { saving_circle_id: circleId, user_id: userId });
  return { $or: [{ user_id: userId }, ...(member === null ? [] : [{ member_id: member.id }])] };
}
