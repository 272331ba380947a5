import type { EntityManager } from '@mikro-orm/postgresql';
import { Organization } from '../people/members/organization.entity.ts';
import { recordAction } from '../platform/events/record-event.ts';
import type { Caller } from '../shared/caller.ts';
import { refuse } from '../shared/errors.ts';
import { lockPartner } from './find-partner.ts';

export interface LinkInput {
  caller: Pick<Caller, 'userId'>;
  requestId: string;
  partnerId: string;
  organizationId: string;
}

/** Links an organization to a partner, even if it is linked already. Throws REQUEST_INVALID for an unknown one. */
export function linkOrganization(em: EntityManager, input: LinkInput): Promise<void> {
  return em.transactional(async (tx) => {
    await lockPartner(tx, input.partnerId);
    const organization = await tx.findOne(Organization, { id: input.organizationId });
    if (organization === null)
      refuse('REQUEST_INVALID', 'the organization was not found', { field: 'organization_id' });
    await tx.execute(
      `insert into partner_organizations (partner_id, organization_id) values (?, ?)
       on conflict (partner_id, organization_id) do update set revoked_at = null`,
      [input.partnerId, input.organizationId],
    );
    await recordAction(tx, input, 'RESOURCE_UPDATED', ['partner', input.partnerId], {
      linked_organization_id: input.organizationId,
    });
  });
}

/**
 * Revokes an organization's link, and removes the fee rules that name it. Throws NOT_FOUND if not linked,
 * REQUEST_INVALID for the partner's own.
 */
export function unlinkOrganization(em: EntityManager, input: LinkInput): Promise<void> {
  return em.transactional(async (tx) => {
    const partner = await lockPartner(tx, input.partnerId);
    if (partner.organization_id === input.organizationId) {
      refuse('REQUEST_INVALID', "the partner's own organization is always linked", { field: 'organization_id' });
    }
    const revoked = await tx.execute<unknown[]>(
      `update partner_organizations set revoked_at = now()
       where partner_id = ? and organization_id = ? and revoked_at is null returning 1`,
      [input.partnerId, input.organizationId],
    );
    if (revoked.length === 0) refuse('NOT_FOUND', 'not linked to the partner', { field: 'organization_id' });
    const removed = await tx.execute<object[]>(
      `delete from partner_fees where partner_id = ? and organization_id = ?
       returning method, channel, fixed, basis_points, provider_fixed, provider_basis_points`,
      [input.partnerId, input.organizationId],
    );
    await recordAction(tx, input, ['RESOURCE_UPDATED', 'HIGH'], ['partner', input.partnerId], {
      unlinked_organization_id: input.organizationId,
      ...(removed.length > 0 && { removed_fees: removed }),
    });
  });
}
