import type { EntityManager } from '@mikro-orm/postgresql';
import { recordAction } from '../../platform/events/record-event.ts';
import { type Caller, isPlatform } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { isUniqueViolation } from '../../shared/postgres.ts';
import { Organization } from '../members/organization.entity.ts';
import { Role } from './role.entity.ts';
import { displayNameOf, requireGrantable } from './role.ts';
import { replacePermissions, requireKnownPermissions } from './role-permissions.ts';

export interface CreateRoleInput {
  caller: Caller;
  requestId: string;
  name: string;
  description: string;
  organizationId: string | undefined;
  permissions: readonly string[];
}

/**
 * Returns the organization of a new role, which the request must name. Throws 403 unless it is the caller's own or the
 * caller is a platform user.
 */
async function organizationFor(em: EntityManager, caller: Caller, organizationId: string | undefined): Promise<string> {
  if (!isPlatform(caller)) {
    if (organizationId === undefined || organizationId !== caller.organizationId) {
      refuse('FORBIDDEN', 'A role cannot be created for another organization');
    }
    return organizationId;
  }
  if (organizationId === undefined) refuse('REQUEST_INVALID', 'is required', { field: 'organization_id' });
  const organization = await em.findOne(Organization, organizationId);
  if (!organization) refuse('NOT_FOUND', 'The organization was not found');
  return organizationId;
}

/** Creates an organization's custom role with its permissions. Names are unique across all organizations. */
export async function createRole(em: EntityManager, input: CreateRoleInput): Promise<Role> {
  const { caller, requestId, name, description } = input;
  const organizationId = await organizationFor(em, caller, input.organizationId);
  const permissions = await requireKnownPermissions(em, input.permissions);
  requireGrantable(caller, permissions);
  try {
    return await em.transactional(async (tx) => {
      const role = tx.create(Role, {
        id: newId(),
        name,
        display_name: displayNameOf(name),
        organization_id: organizationId,
        user_type: 'organization',
        description,
        is_default: false,
        created_by: caller.userId,
        updated_by: caller.userId,
      });
      await tx.flush();
      await replacePermissions(tx, role.id, permissions);
      await recordAction(tx, { caller, requestId }, ['RESOURCE_CREATED', 'HIGH'], ['role', role.id], { permissions });
      return role;
    });
  } catch (error) {
    if (isUniqueViolation(error))
      refuse('DUPLICATE', `a role named ${name} already exists`, { field: 'name', cause: error });
    throw error;
  }
}
