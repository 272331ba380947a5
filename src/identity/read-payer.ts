import type { EntityManager } from '@mikro-orm/postgresql';
import { mayChangeThings, type OrganizationStatus } from '../organizations/organization.ts';
import { refuse } from '../shared/errors.ts';
import type { Payer } from './caller.ts';
import type { UserStatus, UserType } from './user.ts';

interface PayerRow {
  status: UserStatus;
  user_type: UserType;
  organization_id: string | null;
  organization_status: OrganizationStatus | null;
}

/**
 * Who pays, as they are now: what was asked for is done later by nobody's token. Refuses with FORBIDDEN whoever is not
 * active any more, or whose organization may change nothing.
 */
export async function readPayer(em: EntityManager, userId: string): Promise<Payer> {
  const [payer] = await em.execute<PayerRow[]>(
    `select u.status, u.user_type, u.organization_id, o.status as organization_status
     from users u left join organizations o on o.id = u.organization_id where u.id = ?`,
    [userId],
  );
  if (payer?.status !== 'active' || !mayChangeThings(payer.organization_status)) {
    return refuse('FORBIDDEN', 'whoever pays is not active any more');
  }
  return { userId, userType: payer.user_type, organizationId: payer.organization_id };
}
