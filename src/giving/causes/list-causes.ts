import type { EntityManager } from '@mikro-orm/postgresql';
import { requireAccountInReach } from '../../ledger/find-accounts.ts';
import { requireUserInReach } from '../../people/members/user-in-reach.ts';
import type { ListWindow } from '../../platform/database/find-page.ts';
import { listPage } from '../../platform/database/list-page.ts';
import type { Listed } from '../../platform/database/position.ts';
import { type Caller, isOrganizationAdmin, isPlatform } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import type { CauseStatus } from './cause.ts';
import type { CauseRow } from './find-cause.ts';

export interface CauseFilter extends ListWindow {
  /** Every cause that accepts donations, of the platform and all organizations, for any caller. */
  discover?: boolean | undefined;
  status?: CauseStatus | 'all' | undefined;
  organization_id?: string | undefined;
  user_id?: string | undefined;
  account_id?: string | undefined;
}

export type ListedCause = Omit<CauseRow, 'managers' | 'account_user_id'>;

interface Condition {
  sql: string;
  params?: unknown[];
}

/** As `takesDonations`. */
const isOpen: Condition = {
  sql: "(row.status = 'active' or row.status = 'in_progress' and row.approved_at is not null)",
};

/**
 * Returns the conditions for the causes that a caller may list: individuals those that credit their accounts and those
 * they manage, organization admins the organization's, platform all. With `organizationId`: all of that organization's
 * for platform and its own admins, for others those that accept donations; individuals may name only their own
 * organization.
 */
function scopeOf(caller: Caller, organizationId: string | undefined): Condition[] {
  const named = { sql: 'row.organization_id = ?', params: [organizationId] };
  if (isPlatform(caller)) return organizationId === undefined ? [] : [named];
  if (organizationId === undefined || (isOrganizationAdmin(caller) && organizationId === caller.organizationId)) {
    return isOrganizationAdmin(caller)
      ? [{ sql: 'row.organization_id = ?', params: [caller.organizationId] }]
      : [
          {
            sql: `(row.account_id in (select id from accounts where user_id = ?)
              or row.id in (select cause_id from cause_managers where user_id = ?))`,
            params: [caller.userId, caller.userId],
          },
        ];
  }
  if (!isOrganizationAdmin(caller) && organizationId !== caller.organizationId) {
    refuse('FORBIDDEN', 'individuals may read their own organization only', { field: 'organization_id' });
  }
  return [named, isOpen];
}

/**
 * Returns the filter by account: the caller's own; for organization admins, any of the organization or its users; for
 * platform, any.
 */
async function accountFilter(em: EntityManager, caller: Caller, accountId: string): Promise<Condition> {
  await requireAccountInReach(em, caller, accountId);
  return { sql: 'row.account_id = ?', params: [accountId] };
}

/**
 * Returns a page of the causes that the caller may list. Throws FORBIDDEN for a filter that the caller may not use,
 * NOT_FOUND for an unknown account.
 */
export async function listCauses(
  em: EntityManager,
  caller: Caller,
  { status, organization_id, user_id, account_id, discover, ...page }: CauseFilter,
): Promise<Listed & { rows: ListedCause[] }> {
  const within: Condition[] = discover ? [isOpen] : scopeOf(caller, organization_id);
  const where: Condition[] = [];
  if (discover && organization_id !== undefined) {
    within.push({ sql: 'row.organization_id = ?', params: [organization_id] });
  }
  if (user_id !== undefined) {
    await requireUserInReach(em, caller, user_id);
    where.push({ sql: 'row.created_by = ?', params: [user_id] });
  }
  if (account_id !== undefined) where.push(await accountFilter(em, caller, account_id));
  if (status !== undefined && status !== 'all') where.push({ sql: 'row.status = ?', params: [status] });
  return listPage<ListedCause>(
    em,
    { columns: 'row.*, cause_current_amount(row.id) as current_amount', table: 'charitable_causes row', within, where },
    page,
  );
}
