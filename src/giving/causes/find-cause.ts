import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { holdStatus } from '../../people/members/hold-status.ts';
import { executePrepared } from '../../platform/database/prepared-statements.ts';
import { must } from '../../shared/assert.ts';
import { type Caller, isOrganizationAdmin, isPlatform } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import type { Money } from '../../shared/money.ts';
import { mayChangeThings, type OrganizationStatus } from '../../shared/organization.ts';
import { Cause } from './cause.entity.ts';
import { type CauseOwnerType, type CauseStatus, takesDonations } from './cause.ts';

/** A cause for display: its stored fields, what it has received, and its managers. */
export interface CauseRow {
  id: string;
  name: string;
  description: string;
  /** IDR, scale 4. */
  target_amount: Money;
  current_amount: Money;
  currency: string;
  location: string | null;
  regulations: string;
  benefit: string;
  owner_type: CauseOwnerType;
  organization_id: string | null;
  account_id: string;
  /** The owner of the account that receives the donations, if it is a person. */
  account_user_id: string | null;
  status: CauseStatus;
  created_by: string;
  approved_at: Date | string | null;
  created_at: Date | string;
  updated_at: Date | string;
  managers: { user_id: string; role: 'manager' }[];
}

const select = `select c.*, cause_current_amount(c.id) as current_amount, a.user_id as account_user_id,
    coalesce((select json_agg(json_build_object('user_id', m.user_id, 'role', 'manager') order by m.created_at, m.user_id)
      from cause_managers m where m.cause_id = c.id), '[]') as managers
  from charitable_causes c join accounts a on a.id = c.account_id where c.id = ?`;

/** Returns the cause with this id, or null. */
export async function findCause(em: EntityManager, id: string): Promise<CauseRow | null> {
  const [row] = await em.execute<CauseRow[]>(select, [id]);
  return row ?? null;
}

/** Returns the cause with this id, which must exist. */
export const readCause = async (em: EntityManager, id: string): Promise<CauseRow> =>
  must(await findCause(em, id), 'the cause exists');

export const refuseUnknownCause = (): never =>
  refuse('NOT_FOUND', 'the charitable cause was not found', { field: 'id' });

/**
 * Returns whether the caller created the cause, receives its donations, manages it, is an admin of its organization or
 * a platform user.
 */
export function isResponsibleFor(caller: Caller, cause: CauseRow): boolean {
  return (
    isPlatform(caller) ||
    cause.created_by === caller.userId ||
    cause.account_user_id === caller.userId ||
    cause.managers.some(({ user_id }) => user_id === caller.userId) ||
    (isOrganizationAdmin(caller) && cause.organization_id === caller.organizationId)
  );
}

/**
 * Returns whether the caller may see the cause: anybody if it accepts donations, otherwise those responsible for it
 * (docs/contract.md 5).
 */
export const maySeeCause = (caller: Caller, cause: CauseRow): boolean =>
  takesDonations({ status: cause.status, isApproved: cause.approved_at !== null }) || isResponsibleFor(caller, cause);

/** Returns the cause. Throws NOT_FOUND, and FORBIDDEN if the caller may not see it (docs/contract.md 0). */
export async function getVisibleCause(em: EntityManager, caller: Caller, id: string): Promise<CauseRow> {
  const cause = (await findCause(em, id)) ?? refuseUnknownCause();
  if (!maySeeCause(caller, cause)) refuse('FORBIDDEN', 'you may not read this charitable cause', { field: 'id' });
  return cause;
}

/** The state that decides whether a cause accepts donations. */
export interface DonationStanding {
  status: CauseStatus;
  /** Whether it is currently approved. */
  approved: boolean;
  organization_status: OrganizationStatus | null;
}

/** Returns why the cause accepts no donations, to follow "the charitable cause is", or null if it does. */
export function refusalOfDonations({
  status,
  approved: isApproved,
  organization_status: organization,
}: DonationStanding): string | null {
  if (!takesDonations({ status, isApproved })) return status;
  return mayChangeThings(organization) ? null : `of an organization that is ${organization}`;
}

/**
 * Returns the account to which a donation to this cause is credited. Throws NOT_FOUND, and REQUEST_INVALID if the cause
 * does not accept donations or its organization is inactive or suspended. Only reads the cause's row, so that donors do
 * not wait for each other; with `lock` its status and its organization's cannot change until the transaction ends.
 */
export async function getCauseForDonation(
  em: EntityManager,
  id: string,
  { field = 'reference_id', lock = false } = {},
): Promise<{ accountId: string }> {
  const [cause] = await executePrepared<DonationStanding & { account_id: string; organization_id: string | null }>(
    em,
    `select c.account_id, c.status, c.approved_at is not null as approved, c.organization_id, o.status as organization_status
     from charitable_causes c left join organizations o on o.id = c.organization_id where c.id = ?
     ${lock ? 'for share of c' : ''}`,
    [id],
  );
  if (cause === undefined) return refuse('NOT_FOUND', 'the charitable cause was not found', { field });
  const { account_id: accountId, organization_id: organizationId } = cause;
  // Reread in a separate statement, because the joined status may be older than the wait for the lock.
  if (lock && organizationId !== null) cause.organization_status = await holdStatus(em, organizationId);
  const refusal = refusalOfDonations(cause);
  if (refusal !== null) refuse('REQUEST_INVALID', `the charitable cause is ${refusal}`, { field });
  return { accountId };
}

/** Locks a cause until the transaction ends and reads it afresh. Throws NOT_FOUND. */
export async function lockCause(tx: EntityManager, id: string): Promise<Cause> {
  const lockMode = LockMode.PESSIMISTIC_WRITE;
  return (await tx.findOne(Cause, { id }, { lockMode, refresh: true })) ?? refuseUnknownCause();
}

/**
 * Returns whether the caller has a creator's rights: the creator, and admins of the organization that owns the cause.
 */
export const isCreatorOf = (caller: Caller, { created_by, organization_id }: Cause): boolean =>
  created_by === caller.userId ||
  (isOrganizationAdmin(caller) && caller.organizationId !== null && organization_id === caller.organizationId);

/** Returns whether the user is an assigned manager of the cause; its creator is not one. */
export async function isManager(em: EntityManager, causeId: string, userId: string): Promise<boolean> {
  const rows = await em.execute<unknown[]>('select 1 from cause_managers where cause_id = ? and user_id = ?', [
    causeId,
    userId,
  ]);
  return rows.length > 0;
}
