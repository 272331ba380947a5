import { type Caller, isOrganizationAdmin, isPlatform } from '../shared/caller.ts';
import { refuse } from '../shared/errors.ts';
import type { SavingCircle } from './saving-circle.entity.ts';

type GuardedCircle = Pick<SavingCircle, 'created_by' | 'owner_type' | 'owner_id' | 'organization_id' | 'visibility'>;

/** Returns whether the caller is the creator, an admin of the owning organization or a platform user. */
export function mayManageCircle(caller: Caller, circle: GuardedCircle): boolean {
  if (isPlatform(caller) || circle.created_by === caller.userId) return true;
  if (circle.owner_type === 'individual') return circle.owner_id === caller.userId;
  return isOrganizationAdmin(caller) && circle.owner_id === caller.organizationId;
}

/** Returns whether the circle is open to the caller: a public circle to everybody, an organization's to its users. */
export function isOpenTo(caller: Caller, { visibility, organization_id }: GuardedCircle): boolean {
  if (visibility === 'public') return true;
  return visibility === 'organization' && caller.organizationId !== null && organization_id === caller.organizationId;
}

export function requireManager(caller: Caller, circle: GuardedCircle): void {
  if (!mayManageCircle(caller, circle))
    refuse('FORBIDDEN', 'only its creator or an admin may do this', { field: 'id' });
}
