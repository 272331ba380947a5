import { permissionCategories } from '../../../src/migrations/baseline/permissions.ts';
import type { Caller } from '../../../src/shared/caller.ts';
import { newId } from '../../../src/shared/ids.ts';
import type { BuiltUser } from '../../support/build.ts';

/** An individual as a request of theirs is judged, who may do everything. */
export const callerOf = ({ id }: BuiltUser): Caller => ({
  userId: id,
  userType: 'individual',
  organizationId: null,
  organizationStatus: null,
  roleId: null,
  roleName: null,
  permissions: new Set(Object.values(permissionCategories).flatMap((some) => some.map(([name]) => name))),
  isSuperAdmin: false,
  token: { tokenId: newId(), generation: 0, issuedAt: null },
  secondFactor: null,
  askedAt: new Date(),
});

/** What somebody asks for who tops up their account by a virtual account. */
export const topUpOf = ({ accountId }: BuiltUser) => ({
  reference_type: 'account_top_up' as const,
  reference_id: accountId,
  payment_id: 1,
  amount: '10000',
});
