import type { EntityManager } from '@mikro-orm/postgresql';
import type { Payer } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { mayChangeThings } from '../../shared/organization.ts';
import type { UserStatus, UserType } from '../../shared/user.ts';
import { holdStatus } from '../members/hold-status.ts';

interface PayerRow {
  status: UserStatus;
  user_type: UserType;
  organization_id: string | null;
}

export const refuseInactive = (): never => refuse('FORBIDDEN', 'The user who requested this is no longer active');

/**
 * Rereads the user whose money is moved, for work that runs later, without their token. Throws FORBIDDEN if the user is
 * no longer active or the organization is read-only. Waits for a suspension in progress; a later one waits until the
 * caller's transaction ends.
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
