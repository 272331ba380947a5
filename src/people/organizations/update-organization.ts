import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import { recordEvent } from '../../platform/events/record-event.ts';
import { type Actor, isOrganizationAdmin } from '../../shared/caller.ts';
import { type Changes, changesTo } from '../../shared/changes.ts';
import { refuse } from '../../shared/errors.ts';
import type { OrganizationStatus } from '../../shared/organization.ts';
import { Organization } from '../members/organization.entity.ts';

export interface UpdateOrganizationInput {
  caller: Actor;
  requestId: string | null;
  organizationId: string;
  changes: Changes<OrganizationChange>;
}

interface OrganizationChange {
  name: string;
  logo_id: string | null;
  email: string;
  phone_number: string | null;
  official_registration_number: string | null;
  status: OrganizationStatus;
}

/**
 * Changes an organization. Only a super admin may edit another organization; everybody else gets 401, as documented. A
 * super admin may set any status; the organization's users of type `organization` may set only `inactive` (403
 * otherwise). An unchanged status is accepted from anybody.
 */
export async function updateOrganization(em: EntityManager, input: UpdateOrganizationInput): Promise<Organization> {
  const { caller, requestId, organizationId } = input;
  if (!caller.isSuperAdmin && caller.organizationId !== organizationId) {
    refuse('FOREIGN_ORGANIZATION', 'Only a platform super admin may edit another organization');
  }
  return em.transactional(async (tx) => {
    const lockMode = LockMode.PESSIMISTIC_WRITE;
    const organization = await tx.findOne(Organization, organizationId, { lockMode });
    if (!organization) refuse('NOT_FOUND', 'The organization was not found');
    const changes = changesTo<OrganizationChange>(organization, input.changes);
    if (Object.keys(changes).length === 0) return organization;
    if (changes.status !== undefined) requireStatusChange(caller, changes.status);
    const previousStatus = organization.status;
    tx.assign(organization, { ...changes, updated_at: await readDatabaseClock(tx) });
    await tx.flush();
    const { status } = organization;
    await recordEvent(tx, {
      event: 'RESOURCE_UPDATED',
      ...(status === previousStatus ? {} : { impact: 'HIGH' as const }),
      resourceType: 'organization',
      resourceId: organizationId,
      actorId: caller.userId,
      requestId,
      data: {
        changed: Object.keys(changes),
        ...(status === previousStatus ? {} : { status, previous_status: previousStatus }),
      },
    });
    return organization;
  });
}

/** Throws 403 unless a super admin sets the status, or an admin of the organization sets `inactive`. */
function requireStatusChange(caller: Actor, status: OrganizationStatus): void {
  if (caller.isSuperAdmin || (status === 'inactive' && isOrganizationAdmin(caller))) return;
  refuse('FORBIDDEN', "only a platform super admin may set this; an organization's admins may set inactive", {
    field: 'status',
  });
}
