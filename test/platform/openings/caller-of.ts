import { permissionCategories } from '../../../src/migrations/baseline/permissions.ts';
import { fingerprintOf, hashKey } from '../../../src/platform/openings/idempotency-keys.ts';
import type { Caller } from '../../../src/shared/caller.ts';
import { newId } from '../../../src/shared/ids.ts';
import { formatMoney } from '../../../src/shared/money.ts';
import type { KeyClaim } from '../../../src/shared/opening.ts';
import type { BuiltUser } from '../../support/build.ts';

/** Returns the caller of a request: an individual with every permission. */
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

/** Returns the request of a person who tops up their account by a virtual account. */
export const topUpOf = ({ accountId }: BuiltUser) => ({
  reference_type: 'account_top_up' as const,
  reference_id: accountId,
  payment_id: 1,
  amount: '10000',
});

/** Returns the claim of a gateway payment on its user's idempotency key, or null if there is no key. */
export const claimOf = (userId: string, key: string | undefined, body: { amount: string }): KeyClaim | null => {
  if (key === undefined) return null;
  const named = { ...body, amount: formatMoney(body.amount) };
  return { userId, keyHash: hashKey(key), fingerprint: fingerprintOf('POST', '/v1/payments/gateway', named) };
};
