import { z } from 'zod';
import { timestamp } from '../../platform/http/fields.ts';
import { addressFields, addressTypes } from './address.ts';
import type { OpenedAddress } from './find-addresses.ts';

const texts = Object.fromEntries(addressFields.map((field) => [field, z.string().nullable()]));

/** An address in answers (docs/contract.md 7). */
export const AddressAnswer = z
  .object({
    id: z.guid(),
    user_id: z.guid(),
    organization_id: z.guid().nullable(),
    ...texts,
    address_type: z.enum(addressTypes),
    created_by: z.guid().nullable(),
    updated_by: z.guid().nullable(),
    deleted_by: z.guid().nullable(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'Address' });

/** Returns an unsealed address as the API shows it; fields that were never given are null. */
export const presentAddress = ({ address, details }: OpenedAddress) => ({
  id: address.id,
  user_id: address.user_id,
  organization_id: address.organization_id ?? null,
  ...Object.fromEntries(addressFields.map((field) => [field, details[field] ?? null])),
  address_type: address.address_type,
  created_by: address.created_by,
  updated_by: address.updated_by ?? null,
  deleted_by: address.deleted_by ?? null,
  created_at: address.created_at.toISOString(),
  updated_at: address.updated_at.toISOString(),
});
