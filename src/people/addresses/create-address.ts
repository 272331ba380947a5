import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { newAddressId } from '../../shared/ids.ts';
import { Address } from './address.entity.ts';
import { type AddressDetails, type AddressType, placeToSeal } from './address.ts';

/**
 * Returns the organization that owns the caller's address of this type, or null. Throws 400 for type `organization` if
 * the caller belongs to none.
 */
export function organizationFor(caller: Caller, addressType: AddressType): string | null {
  if (addressType === 'individual') return null;
  return caller.organizationId ?? refuse('REQUEST_INVALID', 'you belong to no organization', { field: 'address_type' });
}

/** Creates an address of the caller, or of its organization. */
export async function createAddress(
  em: EntityManager,
  sealer: Sealer,
  input: { caller: Caller; requestId: string; addressType: AddressType; details: AddressDetails },
): Promise<{ address: Address; details: AddressDetails }> {
  const { caller, requestId, addressType, details } = input;
  const id = newAddressId();
  const owner = { user_id: caller.userId, organization_id: organizationFor(caller, addressType) };
  const sealed = await sealer.seal(placeToSeal({ id, ...owner }), JSON.stringify(details));
  const address = await em.transactional(async (tx) => {
    const created = tx.create(Address, {
      id,
      ...owner,
      address_type: addressType,
      details_sealed: sealed,
      created_by: caller.userId,
    });
    await tx.flush();
    await recordAction(tx, { caller, requestId }, 'RESOURCE_CREATED', ['address', id]);
    return created;
  });
  return { address, details };
}
