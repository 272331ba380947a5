import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { changesTo } from '../../shared/changes.ts';
import { refuse } from '../../shared/errors.ts';
import { Address } from './address.entity.ts';
import { type AddressDetails, type AddressType, mayUseAddress, placeToSeal } from './address.ts';
import { organizationFor } from './create-address.ts';
import { type OpenedAddress, openAddress } from './find-addresses.ts';

export interface UpdateAddressInput {
  caller: Caller;
  requestId: string;
  addressId: string;
  /** The fields to change. */
  details: AddressDetails;
  addressType: AddressType | undefined;
}

/** Changes an address. Throws NOT_FOUND if it is missing or the caller may not change it. */
export async function updateAddress(
  em: EntityManager,
  sealer: Sealer,
  { caller, requestId, addressId, details: asked, addressType }: UpdateAddressInput,
): Promise<OpenedAddress> {
  return em.transactional(async (tx) => {
    const address = await tx.findOne(Address, { id: addressId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (address === null || !mayUseAddress(caller, address))
      refuse('NOT_FOUND', 'the address was not found', { field: 'address_id' });
    const { details: before } = await openAddress(sealer, address);
    const changes = changesTo<AddressDetails>(before, asked);
    const changed: string[] = Object.keys(changes);
    const details = { ...before, ...changes };
    if (addressType !== undefined && addressType !== address.address_type) {
      address.organization_id = organizationFor(caller, addressType);
      address.address_type = addressType;
      changed.push('address_type');
    }
    if (changed.length === 0) return { address, details };
    address.details_sealed = await sealer.seal(placeToSeal(address), JSON.stringify(details));
    address.updated_by = caller.userId;
    address.updated_at = await readDatabaseClock(tx);
    await tx.flush();
    await recordAction(tx, { caller, requestId }, 'RESOURCE_UPDATED', ['address', addressId], { changed });
    return { address, details };
  });
}
