import type { z } from 'zod';
import { must } from '../../../src/shared/assert.ts';
import { newId } from '../../../src/shared/ids.ts';
import { routeGroups } from '../../../src/wiring/app.ts';
import { createCircle } from '../../circles/build-circle.ts';
import { buildCause } from '../../giving/causes/build-cause.ts';
import { asAClient } from '../../support/as-a-client.ts';
import {
  type BuiltUser,
  buildIndividual,
  buildOrganization,
  buildOrganizationAdmin,
  buildPlatformAdmin,
  buildRole,
} from '../../support/build.ts';
import { buildGoal, buildProduct } from '../../support/build-targets.ts';
import { buildTransaction, upload } from '../../support/documents.ts';
import { buildPartner } from '../../support/partner.ts';
import { type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let person: BuiltUser;
let platform: BuiltUser;
beforeAll(async () => {
  stack = await startStack({ worker: true });
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
  /** The same value, in another notation if there is one. */
  same: object;
  other: object;
  /** Other users, who may change only some fields; they, too, send back what they read. */
  others?: string[];
}

/** Everything that PATCH can change, with its current value and another one. */
const patched: [name: string, path: string, build: () => Promise<Patched>][] = [
  [
    'a product',
    '/v1/products',
    async () => {
      const { id } = await buildProduct(stack, platform, { kind: 'investment', target: '5000', minimum: '100' });
      const { token } = platform;
      return { path: '/v1/products', id, token, same: { target_amount: '5000.00' }, other: { target_amount: '6000' } };
    },
  ],
  [
    'a saving goal',
    '/v1/saving-goals',
    async () => {
      const { id } = await buildGoal(stack, person, '300');
      const { token } = person;
      return { path: '/v1/saving-goals', id, token, same: { target_amount: '300' }, other: { name: 'Umrah' } };
    },
  ],
  [
    'a charitable cause',
    '/v1/charitable-causes',
    async () => {
      const id = await buildCause(stack, person);
      const { token } = person;
      const { body } = await asAClient(() => stack.get(`/v1/charitable-causes/${id}`, { token }));
      const { name, target_amount } = body.charitable_cause;
      return { path: '/v1/charitable-causes', id, token, same: { name, target_amount }, other: { name: `${name}!` } };
    },
  ],
  [
    'an address',
    '/v1/addresses',
    async () => {
      const { token } = person;
      const place = { province: 'Jawa Barat', city: 'Bandung', country: 'Indonesia' };
      const { body } = await asAClient(() => stack.post('/v1/addresses', place, { token }));
      return { path: '/v1/addresses', id: body.data.address.id, token, same: place, other: { city: 'Bogor' } };
    },
  ],
  [
    'an official document',
    '/v1/official-documents',
    async () => {
      const { token } = person;
      const fields = { kind: 'passport', number: 'A 1', name_on_document: 'Siti', issued_on: '2020-01-01' };
      const { body } = await asAClient(() => stack.post('/v1/official-documents', fields, { token }));
      const { id } = body.data.official_document;
      return {
        path: '/v1/official-documents',
        id: String(id),
        token,
        same: fields,
        other: { number: 'A 2' },
        others: [platform.token],
      };
    },
  ],
  [
    'a partner account',
    '/v1/partner-accounts',
    async () => {
      const partner = await buildPartner(stack);
      const { token } = partner.admin;
      const same = { name: 'Partner', status: 'active' };
      return { path: '/v1/partner-accounts', id: partner.id, token, same, other: { name: 'Another' } };
    },
  ],
  [
    'an API key of a partner',
    '/v1/partner-accounts/:id/keys',
    async () => {
      const { id, keyId, admin } = await buildPartner(stack);
      const path = `/v1/partner-accounts/${id}/keys`;
      const [same, other] = [{ require_signature_v2: false }, { require_signature_v2: true }];
      return { path, id: keyId, token: admin.token, same, other };
    },
  ],
  [
    'a document',
    '/v1/documents',
    async () => {
      const organizationId = await buildOrganization(stack);
      const [member, admin] = [
        await buildIndividual(stack, { organizationId }),
        await buildOrganizationAdmin(stack, { organizationId }),
      ];
      const { body } = await upload(stack, member, await buildTransaction(stack, member));
      const same = { document_type: body.document_type };
      const [{ token }, others] = [member, [admin.token, platform.token]];
      return { path: '/v1/documents', id: body.id, token, same, other: { document_type: 'signature' }, others };
    },
  ],
  [
    'a category of documents',
    '/v1/documents/categories',
    async () => {
      const { token } = platform;
      const { body } = await asAClient(() =>
        stack.post('/v1/documents/categories', { name: `Reports ${newId()}` }, { token }),
      );
      const { id, name } = body.data;
      return { path: '/v1/documents/categories', id, token, same: { name }, other: { name: `Letters ${newId()}` } };
    },
  ],
  [
    'a saving circle',
    '/v1/saving-circles',
    async () => {
      const { id, name, capacity, visibility } = await createCircle(stack, person, { capacity: 5 });
      const same = { name, capacity, visibility, amount: '100000.00' };
      return { path: '/v1/saving-circles', id, token: person.token, same, other: { capacity: 6 } };
    },
  ],
  [
    'an organization',
    '/v1/organizations',
    async () => {
      const { organizationId, token } = await buildOrganizationAdmin(stack);
      const { body } = await asAClient(() => stack.get(`/v1/organizations/${organizationId}`, { token }));
      const same = { name: body.name, email: body.email };
      const other = { name: 'Renamed' };
      return { path: '/v1/organizations', id: String(organizationId), token, same, other };
    },
  ],
  [
    'a role',
    '/v1/acl/roles',
    async () => {
      const { id, name } = await buildRole(stack, { permissions: ['read-role'] });
      const same = { name, permissions: ['read-role'] };
      return { path: '/v1/acl/roles', id, token: platform.token, same, other: { permissions: [] } };
    },
  ],
  [
    'a user',
    '/v1/users',
    async () => {
      const { id } = await buildIndividual(stack);
      const same = { status: 'active' };
      return { path: '/v1/users', id, token: platform.token, same, other: { status: 'suspended' } };
    },
  ],
];

/** The path as its route is declared. */
const declared = (path: string): string => path.replace(/[0-9a-f-]{36}/g, ':id');

/** Returns the fields that the PATCH of this path accepts. */
function fieldsOf(path: string): string[] {
  const route = routeGroups
    .flatMap(({ routes }) => routes)
    .find((it) => it.method === 'patch' && it.path.startsWith(`${declared(path)}/:`));
  return Object.keys((must(route, 'a path of the list has its PATCH').body as z.ZodObject).shape);
}

/** Returns the resource with this id in an answer, wherever it is. */
function resourceIn(answer: unknown, id: string): Record<string, unknown> | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined;
  const fields = answer as Record<string, unknown>;
  if (String(fields.id) === id) return fields;
  return Object.values(fields)
    .map((part) => resourceIn(part, id))
    .find((found) => found !== undefined);
}

/** Routes of the same method that change no fields, or have a test of their own. */
const elsewhere = [
  '/v1/acl/assign-role',
  '/v1/auth/me',
  '/v1/charitable-causes/:id/approve',
  '/v1/partners/webhook-endpoints/:id',
];

describe('Updates without changes', () => {
  it('Every resource with a PATCH is in this test', () => {
    const paths = patched.map(([, path]) => path);
    const routes = routeGroups.flatMap((group) => group.routes).filter(({ method }) => method === 'patch');
    const wanted = routes.map(({ path }) => path).filter((path) => !elsewhere.includes(path));
    expect(paths.toSorted()).toEqual(wanted.map((path) => path.slice(0, path.lastIndexOf('/:'))).toSorted());
  });

  it.each(patched)('A PATCH of %s records an event only if it changes something', async (_, route, build) => {
    const { path, id, token: own, same, other, others = [] } = await build();
    expect(declared(path)).toBe(route);
    const before = await countEvents(id);
    for (const token of [own, ...others]) {
      const { status, body } = await stack.patch(`${path}/${id}`, same, { token });
      expect(status).toBe(200);
      const read = resourceIn(body, id);
      const back = Object.fromEntries(Object.entries(read ?? {}).filter(([field]) => fieldsOf(path).includes(field)));
      expect(Object.keys(back)).not.toEqual([]);
      expect(await stack.patch(`${path}/${id}`, back, { token })).toMatchObject({ status: 200 });
      expect(await countEvents(id)).toBe(before);
    }
    expect((await stack.patch(`${path}/${id}`, other, { token: own })).status).toBe(200);
    expect(await countEvents(id)).toBe(before + 1);
  });

  it('Assigning a user the same role records no event', async () => {
    const { id, organizationId, name } = await buildRole(stack);
    const user = await buildIndividual(stack, { organizationId, role: name });
    const body = { user_id: user.id, role_id: id };
    const { status, body: answer } = await stack.patch('/v1/acl/assign-role', body, { token: platform.token });
    expect([status, answer.role.id, await countEvents(user.id)]).toEqual([200, id, 0]);
  });
});
