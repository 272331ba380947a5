import type { EntityManager } from '@mikro-orm/postgresql';
import { holdStatus } from '../organizations/hold-status.ts';
import { mayChangeThings } from '../organizations/organization.ts';
import { refuse } from '../shared/errors.ts';
import type { Payer } from './caller.ts';
import type { UserStatus, UserType } from './user.ts';

interface PayerRow {
  status: UserStatus;
  user_type: UserType;
  organization_id: string | null;
}

export const refuseInactive = (): never => refuse('FORBIDDEN', 'whoever asked for this is not active any more');

/**
 * Who pays, or moves money otherwise, as they are now: what was asked for is done later by nobody's token. Refuses with
 * FORBIDDEN whoever is not active any more, or whose organization may change nothing. A suspension that is under way is waited for, and one that
 * comes later waits until the caller's transaction ends.
 */
export async function readPayer(tx: EntityManager, userId: string): Promise<Payer> {
  const [payer] = await tx.execute<PayerRow[]>(
    'select status, user_type, organization_id from users where id = ? for key share',
    [userId],
  );
  const organizationId = payer?.organization_id ?? null;
  const organization = organizationId === null ? null : await holdStatus(tx, organizationId);
  if (payer?.status !== 'active' || !mayChangeThings(organization)) {
    return refuseInactive();
  }
  return { userId, userType: payer.user_type, organizationId };
}
