import type { EntityManager } from '@mikro-orm/postgresql';
import { findPage, type ListWindow } from '../database/find-page.ts';
import type { Listed } from '../database/position.ts';
import type { Sealer } from '../encryption/sealer.ts';
import { recordReadOfOthers } from '../events/record-event.ts';
import type { Caller } from '../identity/caller.ts';
import { refuse } from '../shared/errors.ts';
import { Address } from './address.entity.ts';
import { type AddressDetails, mayUseAddress, placeOfDetails } from './address.ts';

export interface OpenedAddress {
  address: Address;
  details: AddressDetails;
}

/** The address with its details unsealed. */
export async function openAddress(sealer: Sealer, address: Address): Promise<OpenedAddress> {
  return { address, details: JSON.parse(await sealer.open(placeOfDetails(address.id), address.details_sealed)) };
}

/** One address. Another's looks like a missing one (NOT_FOUND). A read by the platform is recorded as an event. */
export async function getAddress(
  em: EntityManager,
  sealer: Sealer,
  { caller, addressId, requestId }: { caller: Caller; addressId: string; requestId: string },
): Promise<OpenedAddress> {
  const address = await em.findOne(Address, { id: addressId });
  if (address === null || !mayUseAddress(caller, address))
    refuse('NOT_FOUND', 'no such address', { field: 'address_id' });
  const read = { resourceType: 'address', resourceId: addressId, ownerId: address.user_id, requestId };
  await recordReadOfOthers(em, caller, read);
  return openAddress(sealer, address);
}

/** A page of all addresses, newest first by default; the route is for platform users only. The read is an event. */
export async function listAddresses(
  em: EntityManager,
  sealer: Sealer,
  { caller, requestId, ...window }: ListWindow & { caller: Caller; requestId: string },
): Promise<Listed & { addresses: OpenedAddress[] }> {
  const { items, ...listed } = await findPage(em, Address, {}, window);
  await recordReadOfOthers(em, caller, { resourceType: 'address', resourceId: null, ownerId: null, requestId });
  return { addresses: await Promise.all(items.map((address) => openAddress(sealer, address))), ...listed };
}
