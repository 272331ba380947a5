import { z } from 'zod';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { allow } from '../../platform/http/access.ts';
import { created } from '../../platform/http/answer.ts';
import { clearable, prose, text, uuidV4 } from '../../platform/http/fields.ts';
import { countedFields, listQuery, presentCounted } from '../../platform/http/paging.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { addressTypes } from './address.ts';
import { createAddress } from './create-address.ts';
import { getAddress, listAddresses, listOwnAddresses } from './find-addresses.ts';
import { AddressAnswer, presentAddress } from './present-address.ts';
import { updateAddress } from './update-address.ts';

interface Ports {
  sealer: Sealer;
}

const routes = createRouteGroup<Ports>({
  prefix: '/v1/addresses',
  tag: 'Addresses',
  description: 'Postal addresses of users and organizations, encrypted at rest.',
});

const scope = "own; the organization's for its admins; all for platform";
const addressId = z.object({ address_id: uuidV4() });

const texts = {
  province: prose(255),
  city: prose(255),
  country: prose(255),
  district: clearable(prose(255, 0)),
  subdistrict: clearable(prose(255, 0)),
  street: clearable(prose(255, 0)),
  village: clearable(prose(255, 0)),
  rt: clearable(prose(255, 0)),
  rw: clearable(prose(255, 0)),
  postal_code: clearable(prose(255, 0)),
  unit_number: clearable(prose(255, 0)),
  building_number: clearable(prose(255, 0)),
  label: clearable(text(255, 0)),
};
const NewAddress = z.strictObject({ ...texts, address_type: z.enum(addressTypes).default('individual') });
const AddressChanges = z.strictObject({ ...texts, address_type: z.enum(addressTypes) }).partial();

const envelope = (statusCode: 200 | 201, data: z.ZodType) =>
  z.object({ status: z.literal('success'), statusCode: z.literal(statusCode), message: z.string(), data });
const success = <T extends object>(statusCode: 200 | 201, message: string, data: T) => ({
  status: 'success',
  statusCode,
  message,
  data,
});
const One = z.object({ address: AddressAnswer });
const Many = z.object({ ...countedFields, addresses: z.array(AddressAnswer) });

routes.post(
  '/',
  {
    summary: 'Create an address',
    description:
      "The address belongs to the caller, or, if its type is `organization`, to the caller's organization (400 without one).",
    access: allow('create-address', { scope: 'for the caller or its organization' }),
    body: NewAddress,
    answers: { 201: envelope(201, One) },
  },
  async ({ em, deps, caller, body: { address_type: addressType, ...details }, requestId }) => {
    const opened = await createAddress(em, deps.sealer, { caller, requestId, addressType, details });
    return created(success(201, 'Address created', { address: presentAddress(opened) }));
  },
);

routes.get(
  '/',
  {
    summary: 'List addresses',
    access: allow('read-address', { userTypes: ['platform'], scope: 'all' }),
    query: listQuery(),
    answers: { 200: envelope(200, Many) },
  },
  async ({ em, deps, caller, query, requestId }) => {
    const { addresses, ...listed } = await listAddresses(em, deps.sealer, { caller, requestId, ...query });
    const data = { ...presentCounted(query, listed), addresses: addresses.map(presentAddress) };
    return success(200, 'Addresses found', data);
  },
);

routes.get(
  '/mine',
  {
    summary: "List the caller's addresses",
    access: allow('read-address', { scope: "own; also the organization's for its admins" }),
    query: listQuery(),
    answers: { 200: envelope(200, Many) },
  },
  async ({ em, deps, caller, query }) => {
    const { addresses, ...listed } = await listOwnAddresses(em, deps.sealer, { caller, ...query });
    const data = { ...presentCounted(query, listed), addresses: addresses.map(presentAddress) };
    return success(200, 'Addresses found', data);
  },
);

routes.get(
  '/:address_id',
  {
    summary: 'Read an address',
    access: allow('read-address', { scope }),
    params: addressId,
    answers: { 200: envelope(200, One) },
  },
  async ({ em, deps, caller, params, requestId }) => {
    const opened = await getAddress(em, deps.sealer, { caller, addressId: params.address_id, requestId });
    return success(200, 'Address found', { address: presentAddress(opened) });
  },
);

routes.patch(
  '/:address_id',
  {
    summary: 'Change an address',
    description: 'Changes the fields that are sent; null clears an optional field.',
    access: allow('update-address', { scope }),
    params: addressId,
    body: AddressChanges,
    answers: { 200: envelope(200, One) },
  },
  async ({ em, deps, caller, params, body: { address_type: addressType, ...details }, requestId }) => {
    const opened = await updateAddress(em, deps.sealer, {
      caller,
      requestId,
      addressId: params.address_id,
      addressType,
      details,
    });
    return success(200, 'Address updated', { address: presentAddress(opened) });
  },
);

export const addressesRoutes = routes;
