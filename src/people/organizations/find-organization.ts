import type { EntityManager } from '@mikro-orm/postgresql';
import type { ListWindow } from '../../platform/database/find-page.ts';
import { listPage } from '../../platform/database/list-page.ts';
import type { Listed } from '../../platform/database/position.ts';
import { recordRead } from '../../platform/events/record-event.ts';
import { type Caller, isPlatform } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { Organization } from '../members/organization.entity.ts';

/** Returns the organization, if the caller may see it: platform any, others only their own. Throws 403, 404. */
export async function getVisibleOrganization(
  em: EntityManager,
  caller: Caller,
  organizationId: string,
): Promise<Organization> {
  if (!isPlatform(caller) && caller.organizationId !== organizationId) {
    refuse('FORBIDDEN', 'The organization is not your own');
  }
  const organization = await em.findOne(Organization, organizationId);
  return organization ?? refuse('NOT_FOUND', 'The organization was not found');
}

export interface ListOrganizationsInput extends ListWindow {
  caller: Caller;
  requestId: string;
}

/** Returns a page of all organizations and records the read as an event. */
export async function listOrganizations(
  em: EntityManager,
  { caller, requestId, ...page }: ListOrganizationsInput,
): Promise<Listed & { organizations: Organization[] }> {
  const { rows, ...listed } = await listPage<object>(em, { columns: 'row.*', table: 'organizations row' }, page);
  await recordRead(em, { resourceType: 'organization', resourceId: null, actorId: caller.userId, requestId });
  return { organizations: rows.map((row) => em.map(Organization, row)), ...listed };
}

export interface SizeRow {
  id: string;
  label: string;
  range: string;
}

export interface IndustryRow {
  id: string;
  value: string;
  label: string;
}

/** Returns the sizes that an organization may have. */
export const listSizes = (em: EntityManager, page: ListWindow): Promise<Listed & { rows: SizeRow[] }> =>
  listPage(em, { columns: 'row.id, row.label, row.range', table: 'organization_sizes row' }, page);

/** Returns the industries that an organization may belong to. */
export const listIndustries = (em: EntityManager, page: ListWindow): Promise<Listed & { rows: IndustryRow[] }> =>
  listPage(em, { columns: 'row.id, row.value, row.label', table: 'organization_industries row' }, page);
