import type { EntityManager } from '@mikro-orm/postgresql';
import { findPage, type ListWindow } from '../database/find-page.ts';
import type { Sealer } from '../encryption/sealer.ts';
import type { Caller } from '../identity/caller.ts';
import { refuse } from '../shared/errors.ts';
import { Address } from './address.entity.ts';
import { type AddressDetails, mayUseAddress, placeOfDetails } from './address.ts';

export interface OpenedAddress {
  address: Address;
  details: AddressDetails;
}

/** The address with its sealed fields opened. */
export async function openAddress(sealer: Sealer, address: Address): Promise<OpenedAddress> {
  return { address, details: JSON.parse(await sealer.open(placeOfDetails(address.id), address.details_sealed)) };
}

/** One address. Another's and a missing one look the same (NOT_FOUND). */
export async function getAddress(
  em: EntityManager,
  sealer: Sealer,
  input: { caller: Caller; addressId: string },
): Promise<OpenedAddress> {
  const address = await em.findOne(Address, { id: input.addressId });
  if (address === null || !mayUseAddress(input.caller, address))
    refuse('NOT_FOUND', 'no such address', { field: 'address_id' });
  return openAddress(sealer, address);
}

/** A page of all addresses, newest first unless asked otherwise; the route is for platform users only. */
export async function listAddresses(
  em: EntityManager,
  sealer: Sealer,
  window: ListWindow,
): Promise<{ addresses: OpenedAddress[]; total: number }> {
  const { items, total } = await findPage(em, Address, {}, window);
  return { addresses: await Promise.all(items.map((address) => openAddress(sealer, address))), total };
}
