import { buildCause } from '../causes/build-cause.ts';
import { type BuiltUser, buildIndividual, buildPlatformAdmin } from '../support/build.ts';
import { buildGoal, buildProduct } from '../support/build-targets.ts';
import { buildTransaction, upload } from '../support/documents.ts';
import { buildPartner } from '../support/partner.ts';
import { type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
let person: BuiltUser;
let platform: BuiltUser;
beforeAll(async () => {
  stack = await startStack();
  person = await buildIndividual(stack);
  platform = await buildPlatformAdmin(stack);
}, 60_000);
afterAll(() => stack.stop());

const countEvents = async (id: string): Promise<number> => {
  const [row] = await stack
    .em()
    .execute<[{ count: string }]>(
      "select count(*) as count from events where resource_id = ? and event = 'RESOURCE_UPDATED'",
      [id],
    );
  return Number(row.count);
};

interface Patched {
  path: string;
  id: string;
  token: string;
  /** As it is, in another spelling where there is one. */
  same: object;
  other: object;
}

/** Everything that is changed by PATCH, with what it has already and with something else. */
const patched: [name: string, build: () => Promise<Patched>][] = [
  [
    'a product',
    async () => {
      const { id } = await buildProduct(stack, platform, { kind: 'investment', target: '5000', minimum: '100' });
      const { token } = platform;
      return { path: '/v1/products', id, token, same: { target_amount: '5000.00' }, other: { target_amount: '6000' } };
    },
  ],
  [
    'a saving goal',
    async () => {
      const { id } = await buildGoal(stack, person, '300');
      const { token } = person;
      return { path: '/v1/saving-goals', id, token, same: { target_amount: '300' }, other: { name: 'Umrah' } };
    },
  ],
  [
    'a charitable cause',
    async () => {
      const id = await buildCause(stack, person);
      const { token } = person;
      const { body } = await stack.get(`/v1/charitable-causes/${id}`, { token });
      const { name, target_amount } = body.charitable_cause;
      return { path: '/v1/charitable-causes', id, token, same: { name, target_amount }, other: { name: `${name}!` } };
    },
  ],
  [
    'an address',
    async () => {
      const { token } = person;
      const place = { province: 'Jawa Barat', city: 'Bandung', country: 'Indonesia' };
      const { body } = await stack.post('/v1/addresses', place, { token });
      return { path: '/v1/addresses', id: body.data.address.id, token, same: place, other: { city: 'Bogor' } };
    },
  ],
  [
    'an official document',
    async () => {
      const { token } = person;
      const fields = { kind: 'passport', number: 'A 1', name_on_document: 'Siti', issued_on: '2020-01-01' };
      const { body } = await stack.post('/v1/official-documents', fields, { token });
      const { id } = body.data.official_document;
      return { path: '/v1/official-documents', id: String(id), token, same: fields, other: { number: 'A 2' } };
    },
  ],
  [
    'a partner account',
    async () => {
      const partner = await buildPartner(stack);
      const { token } = partner.admin;
      const same = { name: 'Partner', status: 'active' };
      return { path: '/v1/partner-accounts', id: partner.id, token, same, other: { name: 'Another' } };
    },
  ],
  [
    'a document',
    async () => {
      const { token } = person;
      const { body } = await upload(stack, person, await buildTransaction(stack, person));
      const same = { document_type: body.document_type };
      return { path: '/v1/documents', id: body.id, token, same, other: { document_type: 'signature' } };
    },
  ],
];

describe('A PATCH', () => {
  it.each(patched)(
    'of %s that changes nothing leaves no event, and one that changes something leaves one',
    async (_, build) => {
      const { path, id, token, same, other } = await build();
      const before = await countEvents(id);
      expect((await stack.patch(`${path}/${id}`, same, { token })).status).toBe(200);
      expect(await countEvents(id)).toBe(before);
      expect((await stack.patch(`${path}/${id}`, other, { token })).status).toBe(200);
      expect(await countEvents(id)).toBe(before + 1);
    },
  );
});
