import type { EntityManager, FilterQuery } from '@mikro-orm/postgresql';
import { findPage, type ListWindow } from '../../platform/database/find-page.ts';
import type { Listed } from '../../platform/database/position.ts';
import { unlessErased, unlessMissing } from '../../platform/encryption/personal-keys.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordReadOfOthers } from '../../platform/events/record-event.ts';
import { type Caller, isOrganizationAdmin } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { Address } from './address.entity.ts';
import { type AddressDetails, mayUseAddress, placeOfDetails } from './address.ts';

export interface OpenedAddress {
  address: Address;
  details: AddressDetails;
}

/** Returns the address with its details unsealed, or null once its owner is erased. */
async function unsealAddress(sealer: Sealer, address: Address): Promise<OpenedAddress | null> {
  const details = await unlessErased(sealer.open(placeOfDetails(address.id), address.details_sealed));
  return details === null ? null : { address, details: JSON.parse(details) };
}

/** Returns the address with its details unsealed. Throws NOT_FOUND once its owner is erased. */
export async function openAddress(sealer: Sealer, address: Address): Promise<OpenedAddress> {
  return (await unsealAddress(sealer, address)) ?? missing();
}

const missing = (): never => refuse('NOT_FOUND', 'the address was not found', { field: 'address_id' });

/**
 * Reads an address. Throws NOT_FOUND when it is missing or someone else's. A read by the platform is recorded as an
 * event.
 */
export async function getAddress(
  em: EntityManager,
  sealer: Sealer,
  { caller, addressId, requestId }: { caller: Caller; addressId: string; requestId: string },
): Promise<OpenedAddress> {
  const address = await em.findOne(Address, { id: addressId });
  if (address === null || !mayUseAddress(caller, address)) return missing();
  const read = { resourceType: 'address', resourceId: addressId, ownerId: address.user_id, requestId };
  await recordReadOfOthers(em, caller, read);
  return openAddress(sealer, address);
}

/**
 * Returns a page of all addresses, newest first by default, and records the read as an event. For platform users only.
 */
export async function listAddresses(
  em: EntityManager,
  sealer: Sealer,
  { caller, requestId, ...window }: ListWindow & { caller: Caller; requestId: string },
): Promise<Listed & { addresses: OpenedAddress[] }> {
  await recordReadOfOthers(em, caller, { resourceType: 'address', resourceId: null, ownerId: null, requestId });
  return readAddresses(em, sealer, {}, window);
}

/** Returns a page of the caller's own addresses and, for its admins, the organization's. */
export function listOwnAddresses(
  em: EntityManager,
  sealer: Sealer,
  { caller, ...window }: ListWindow & { caller: Caller },
): Promise<Listed & { addresses: OpenedAddress[] }> {
  const own = { user_id: caller.userId };
  const { organizationId } = caller;
  const where =
    isOrganizationAdmin(caller) && organizationId !== null ? { $or: [own, { organization_id: organizationId }] } : own;
  return readAddresses(em, sealer, where, window);
}

async function readAddresses(
  em: EntityManager,
  sealer: Sealer,
  where: FilterQuery<Address>,
  window: ListWindow,
): Promise<Listed & { addresses: OpenedAddress[] }> {
  const { items, ...listed } = await findPage(em, Address, where, window);
  const opened = await Promise.all(items.map((address) => unlessMissing(unsealAddress(sealer, address))));
  return { addresses: opened.filter((address) => address !== null), ...listed };
}
