import { defineEntity, p } from '@mikro-orm/core';
import type { AddressType } from './address.ts';

const AddressSchema = defineEntity({
  name: 'Address',
  tableName: 'addresses',
  properties: {
    id: p.uuid().primary(),
    user_id: p.uuid(),
    organization_id: p.uuid().nullable(),
    address_type: p.text().$type<AddressType>(),
    details_sealed: p.text(),
    created_by: p.uuid(),
    updated_by: p.uuid().nullable(),
    deleted_by: p.uuid().nullable(),
    created_at: p.datetime().defaultRaw('now()'),
    updated_at: p.datetime().defaultRaw('now()'),
  },
});

/** An address; its text fields are one sealed JSON object (`AddressDetails`). */
export class Address extends AddressSchema.class {}
AddressSchema.setClass(Address);
