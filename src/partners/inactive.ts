import type { EntityManager } from '@mikro-orm/postgresql';
import { holdStatus } from '../people/members/hold-status.ts';
import { DomainError, refuse } from '../shared/errors.ts';
import { mayChangeThings, type OrganizationStatus } from '../shared/organization.ts';
import type { PartnerStatus } from './partner.ts';

export interface PartnerActivity {
  status: PartnerStatus;
  organizationStatus: OrganizationStatus;
}

/** Throws AUTH_PARTNER_INACTIVE for a partner that is not active, or whose organization may not change anything. */
export function refuseInactive(activity: PartnerActivity): void {
  const refusal = complainOfAccount(activity) ?? complainOfOrganization(activity);
  if (refusal !== null) throw refusal;
}

/** Why the account may do nothing at all; null if it may. */
export const complainOfAccount = ({ status }: Pick<PartnerActivity, 'status'>): DomainError | null =>
  status === 'active' ? null : new DomainError('AUTH_PARTNER_INACTIVE', `The partner account is ${status}`);

/** Why the account may read and quote but create nothing; null if it may. */
export const complainOfOrganization = ({
  organizationStatus,
}: Pick<PartnerActivity, 'organizationStatus'>): DomainError | null =>
  mayChangeThings(organizationStatus)
    ? null
    : new DomainError('AUTH_PARTNER_INACTIVE', `The organization of the partner account is ${organizationStatus}`);

/** Throws RESOURCE_NOT_LINKED for an organization that may not change anything: no partner may collect in its name. */
export function refuseClosed(status: OrganizationStatus | null): void {
  if (!mayChangeThings(status)) {
    refuse('RESOURCE_NOT_LINKED', `the organization is ${status}`, { field: 'organization_id' });
  }
}

/**
 * Reads the organization's status under a shared lock and throws as `refuseClosed` does. Waits for a suspension in
 * progress; the status cannot change until the caller's transaction ends.
 */
export async function refuseClosedOrganization(em: EntityManager, organizationId: string): Promise<void> {
  refuseClosed(await holdStatus(em, organizationId));
}

/** Throws RESOURCE_NOT_LINKED. */
export const refuseNotLinked = (): never =>
  refuse('RESOURCE_NOT_LINKED', 'not linked to this partner account', { field: 'organization_id' });

/**
 * Throws RESOURCE_NOT_LINKED for an organization in whose name the partner may not collect. The caller has locked the
 * partner's row, which a revocation locks too: so none is missed, and later ones wait until the transaction ends.
 */
export async function refuseUnlinked(
  tx: EntityManager,
  { partnerId, organizationId }: { partnerId: string; organizationId: string },
): Promise<void> {
  const linked = await tx.execute<unknown[]>(
    `select 1 from partners where id = ? and organization_id = ? union all
     select 1 from partner_organizations where partner_id = ? and organization_id = ? and revoked_at is null`,
    [partnerId, organizationId, partnerId, organizationId],
  );
  if (linked.length === 0) refuseNotLinked();
}

/**
 * Throws as `refuseInactive` does, and NOT_FOUND for an unknown partner. Waits for a suspension in progress and blocks
 * the next until the transaction ends.
 */
export async function refuseInactivePartner(em: EntityManager, partnerId: string): Promise<void> {
  const [row] = await em.execute<{ status: PartnerStatus; organization_status: OrganizationStatus }[]>(
    `select p.status, o.status as organization_status from partners p
     join organizations o on o.id = p.organization_id where p.id = ? for key share of p, o`,
    [partnerId],
  );
  if (row === undefined) refuse('NOT_FOUND', 'The partner was not found');
  refuseInactive({ status: row.status, organizationStatus: row.organization_status });
}
