import type { EntityManager } from '@mikro-orm/postgresql';
import type { OrganizationStatus } from '../../shared/organization.ts';

/**
 * Returns the status of an organization, or null if it does not exist. Waits for an `updateOrganization` in progress
 * (which locks the row for update), and blocks the next until the caller's transaction ends.
 */
export async function holdStatus(tx: EntityManager, organizationId: string): Promise<OrganizationStatus | null> {
  const [row] = await tx.execute<{ status: OrganizationStatus }[]>(
    'select status from organizations where id = ? for key share',
    [organizationId],
  );
  return row?.status ?? null;
}
