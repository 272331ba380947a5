import type { Caller } from '../../shared/caller.ts';

/** Address types, fields and access rules (docs/contract.md 7). */
export const addressTypes = ['individual', 'organization'] as const;
export type AddressType = (typeof addressTypes)[number];

/** The fields of the postal address itself, stored together in one sealed object. */
export const addressFields = [
  'province',
  'city',
  'country',
  'district',
  'subdistrict',
  'street',
  'village',
  'rt',
  'rw',
  'postal_code',
  'unit_number',
  'building_number',
  'label',
] as const;
export type AddressField = (typeof addressFields)[number];
export type AddressDetails = Partial<Record<AddressField, string | null | undefined>>;

export const placeOfDetails = (id: string) => ({ table: 'addresses', column: 'details_sealed', row: id });

/** Returns the row and key under which the details are sealed: a person's own address under that person's key. */
export const placeToSeal = (address: { id: string; user_id: string; organization_id?: string | null }) => ({
  ...placeOfDetails(address.id),
  person: address.organization_id == null ? { id: address.user_id } : null,
});

/** Returns whether the caller is the address's owner, a platform user, or an admin of the organization that owns it. */
export function mayUseAddress(
  caller: Pick<Caller, 'userId' | 'userType' | 'organizationId'>,
  address: { user_id: string; organization_id?: string | null },
): boolean {
  if (caller.userType === 'platform' || address.user_id === caller.userId) return true;
  const { organization_id: organizationId } = address;
  return caller.userType === 'organization' && organizationId != null && organizationId === caller.organizationId;
}
