import { newAddressId, newId } from '../../../src/shared/ids.ts';
import {
  type BuiltUser,
  buildIndividual,
  buildOrganization,
  buildOrganizationAdmin,
  buildPlatformAdmin,
} from '../../support/build.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let owner: BuiltUser;
let stranger: BuiltUser;
let platform: BuiltUser;
beforeAll(async () => {
  stack = await startStack();
  [owner, stranger, platform] = await Promise.all([
    buildIndividual(stack),
    buildIndividual(stack),
    buildPlatformAdmin(stack),
  ]);
});
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const required = { province: 'Jawa Barat', city: 'Bandung', country: 'Indonesia' };
const whole = {
  ...required,
  district: 'Coblong',
  subdistrict: 'Dago',
  street: 'Jalan Ir. H. Juanda',
  village: 'Dago',
  rt: '003',
  rw: '007',
  postal_code: '40135',
  unit_number: '12B',
  building_number: '101',
  label: 'Rumah Ibu',
  address_type: 'individual',
};
const create = (by: BuiltUser, body: object = required) => stack.post('/v1/addresses', body, { token: by.token });
const read = (by: BuiltUser, id: string) => stack.get(`/v1/addresses/${id}`, { token: by.token });
const change = (by: BuiltUser, id: string, body: object) =>
  stack.patch(`/v1/addresses/${id}`, body, { token: by.token });
const idOf = async (by: BuiltUser, body: object = required) => (await create(by, body)).body.data.address.id as string;
const eventsOf = (id: string) =>
  stack
    .em()
    .execute('select event, impact, resource_type, actor_id from events where resource_id = ? order by id', [id]);

describe('POST /v1/addresses (create-address)', () => {
  it('An address field’s 255 characters include surrounding white space, which is not stored', async () => {
    const street = 'j'.repeat(254);
    const fits = await create(owner, { ...required, street: ` ${street}` });
    expect([fits.status, fits.body.data.address.street]).toEqual([201, street]);
    const { status, body } = await create(owner, { ...required, street: ` ${street} ` });
    expect([status, body.message]).toEqual([400, 'street: must have at most 255 characters']);
  });

  it('Creating an address returns 201 with data.address and every field as plain text', async () => {
    const { status, body } = await create(owner, whole);
    expect({ status, body }).toMatchObject({
      status: 201,
      body: { status: 'success', statusCode: 201, message: expect.any(String) },
    });
    expect(Object.keys(body.data)).toEqual(['address']);
    expect(body.data.address).toEqual({
      ...whole,
      id: expect.stringMatching(/^[0-9a-f-]{14}4/),
      user_id: owner.id,
      organization_id: null,
      created_by: owner.id,
      updated_by: null,
      deleted_by: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: expect.any(String),
    });
  });

  it('An address needs three fields; the others default to null and the type to individual', async () => {
    const { body } = await create(owner);
    expect(body.data.address).toMatchObject({ ...required, street: null, label: null, address_type: 'individual' });
  });

  it('Creating an address records RESOURCE_CREATED with the caller as actor', async () => {
    const id = await idOf(owner);
    expect(await eventsOf(id)).toEqual([
      { event: 'RESOURCE_CREATED', impact: 'MEDIUM', resource_type: 'address', actor_id: owner.id },
    ]);
  });

  it.each(['province', 'city', 'country'])(
    'Creating an address without %s returns 400 and names the field',
    async (field) => {
      const { status, body } = await create(owner, { ...required, [field]: undefined });
      expect({ status, body }).toMatchObject({
        status: 400,
        body: { statusCode: 400, error: 'Bad Request', message: expect.stringContaining(field) },
      });
    },
  );

  it.each([
    ['an unknown field', { user_id: newId() }, 'user_id'],
    ['a text of 256 characters', { street: 'x'.repeat(256) }, 'street'],
    ['an unknown address_type', { address_type: 'office' }, 'address_type'],
    ['a number for a text', { rt: 3 }, 'rt'],
  ])('Creating an address with %s returns 400 and names the field', async (_, fields, name) => {
    const { status, body } = await create(owner, { ...required, ...fields });
    expect({ status, message: String(body.message) }).toEqual({ status: 400, message: expect.stringContaining(name) });
  });

  it('An address field may have 255 characters', async () => {
    expect((await create(owner, { ...required, street: 'x'.repeat(255) })).status).toBe(201);
  });

  it('An address of type organization belongs to the caller’s organization; without one it returns 400', async () => {
    const admin = await buildOrganizationAdmin(stack);
    const { body } = await create(admin, { ...required, address_type: 'organization' });
    expect(body.data.address).toMatchObject({ user_id: admin.id, organization_id: admin.organizationId });
    const refused = await create(owner, { ...required, address_type: 'organization' });
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('address_type')]);
  });

  it('Creating an address returns 403 without the permission and 401 without a token', async () => {
    await stack.owner().execute(
      `insert into roles (id, name, display_name, organization_id, user_type, description)
       select ?, ?, 'Powerless', id, 'organization', '' from organizations where id = ?`,
      [newId(), 'powerless', await buildOrganization(stack)],
    );
    const powerless = await buildIndividual(stack, { role: 'powerless' });
    expect((await create(powerless)).status).toBe(403);
    expect((await stack.post('/v1/addresses', required)).status).toBe(401);
    await stack.owner().execute('update users set role_id = null where id = ?', [powerless.id]);
  });
});

describe('GET /v1/addresses/:address_id (read-address)', () => {
  it('An address is returned as data.address to its owner and platform users', async () => {
    const id = await idOf(owner, whole);
    for (const reader of [owner, platform]) {
      const { status, body } = await read(reader, id);
      expect({ status, body }).toMatchObject({
        status: 200,
        body: { status: 'success', statusCode: 200, data: { address: { id, ...whole } } },
      });
    }
  });

  it('A foreign address and a missing one return the same 404', async () => {
    const id = await idOf(owner);
    const [anothers, missing] = [await read(stranger, id), await read(stranger, newAddressId())];
    expect([anothers.status, missing.status]).toEqual([404, 404]);
    expect(anothers.body).toEqual(missing.body);
  });

  it('An organization’s address is readable by all its admins, but not by its members or others', async () => {
    const admin = await buildOrganizationAdmin(stack);
    const { organizationId } = admin;
    const id = await idOf(admin, { ...required, address_type: 'organization' });
    const [colleague, member, foreign] = await Promise.all([
      buildOrganizationAdmin(stack, { organizationId }),
      buildIndividual(stack, { organizationId }),
      buildOrganizationAdmin(stack),
    ]);
    const statuses = await Promise.all([colleague, member, foreign].map(async (by) => (await read(by, id)).status));
    expect(statuses).toEqual([200, 404, 404]);
  });

  it('An admin’s individual address returns 404 to colleagues', async () => {
    const admin = await buildOrganizationAdmin(stack);
    const id = await idOf(admin);
    const colleague = await buildOrganizationAdmin(stack, { organizationId: admin.organizationId });
    expect([(await read(admin, id)).status, (await read(colleague, id)).status]).toEqual([200, 404]);
  });

  it.each([
    ['an id that is no UUID', 'nonsense'],
    ['a UUID of another version', '01890a5d-ac96-774b-bcce-b302099a8057'],
  ])('Reading an address with %s returns 400', async (_, id) => {
    expect((await read(owner, id)).status).toBe(400);
  });
});

describe('GET /v1/addresses/mine (read-address)', () => {
  const mine = async (by: BuiltUser) => {
    const { status, body } = await stack.get('/v1/addresses/mine', { token: by.token });
    expect(status).toBe(200);
    return body.data as { count: number; addresses: { id: string; city: string }[] };
  };

  it('Users list their own addresses, and admins also those of their organization', async () => {
    const organizationId = await buildOrganization(stack);
    const [employee, admin] = [
      await buildIndividual(stack, { organizationId }),
      await buildOrganizationAdmin(stack, { organizationId }),
    ];
    const home = await idOf(employee);
    const office = await idOf(employee, { ...required, address_type: 'organization' });
    expect(await mine(employee)).toMatchObject({
      count: 2,
      addresses: [{ id: office }, { id: home, city: 'Bandung' }],
    });
    expect((await mine(admin)).addresses.map(({ id }) => id)).toEqual([office]);
    expect((await mine(await buildIndividual(stack))).addresses).toEqual([]);
    expect((await stack.get('/v1/addresses/mine?limit=0', { token: employee.token })).status).toBe(400);
  });
});

describe('GET /v1/addresses (read-address, platform only)', () => {
  const list = (query: string, by = platform) => stack.get(`/v1/addresses?${query}`, { token: by.token });

  it('The platform’s address list returns limit, count, currentPage, totalPages and addresses', async () => {
    await Promise.all([idOf(owner), idOf(owner), idOf(stranger)]);
    const { status, body } = await list('limit=2');
    const { count } = body.data;
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        status: 'success',
        statusCode: 200,
        data: { limit: 2, currentPage: 1, totalPages: Math.ceil(count / 2) },
      },
    });
    expect(body.data.addresses).toHaveLength(2);
    expect(body.data.addresses[0]).toMatchObject(required);
    expect(count).toBeGreaterThanOrEqual(3);
  });

  it('The platform’s address list defaults to ten rows, newest first; order=asc reverses it', async () => {
    const newest = await idOf(owner);
    const { body } = await list('');
    expect(body.data).toMatchObject({ limit: 10, currentPage: 1 });
    expect(body.data.addresses[0].id).toBe(newest);
    const ascending = (await list('order=asc&limit=100')).body.data.addresses;
    expect(ascending.at(-1).id).toBe(newest);
  });

  it.each(['page=0', 'limit=0', 'page=-1', 'limit=101', 'page=1.5', 'page=x', 'order=up'])(
    'The platform’s address list returns 400 for %s',
    async (query) => {
      expect((await list(query)).status).toBe(400);
    },
  );

  it('The platform’s address list ignores other query fields, and a page past the end is empty', async () => {
    expect((await list('user_id=nonsense&colour=blue')).status).toBe(200);
    const { status, body } = await list('page=100000');
    expect([status, body.data.addresses]).toEqual([200, []]);
  });

  it('The platform’s address list returns 403 to individuals and organization admins', async () => {
    const admin = await buildOrganizationAdmin(stack);
    expect([(await list('', owner)).status, (await list('', admin)).status]).toEqual([403, 403]);
  });
});

describe('PATCH /v1/addresses/:address_id (update-address)', () => {
  it('Changing an address affects only the fields sent, and records RESOURCE_UPDATED without the values', async () => {
    const id = await idOf(owner, whole);
    const { status, body } = await change(owner, id, { city: 'Cimahi', label: 'Kantor' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'success',
      statusCode: 200,
      data: { address: { ...whole, city: 'Cimahi', label: 'Kantor', updated_by: owner.id } },
    });
    expect((await read(owner, id)).body.data.address).toEqual(body.data.address);
    const events = await stack
      .em()
      .execute<{ event: string; data: unknown }[]>('select event, data from events where resource_id = ? order by id', [
        id,
      ]);
    expect(events[1]).toEqual({ event: 'RESOURCE_UPDATED', data: { changed: ['city', 'label'] } });
  });

  it('Null clears optional fields of an address', async () => {
    const id = await idOf(owner, whole);
    expect((await change(owner, id, { label: null })).body.data.address).toMatchObject({ ...whole, label: null });
    expect((await read(owner, id)).body.data.address).toMatchObject({ ...whole, label: null });
    expect((await change(owner, id, { city: null })).status).toBe(400);
  });

  it('Platform users can change any address; other users get 404', async () => {
    const id = await idOf(owner);
    expect((await change(stranger, id, { city: 'Bogor' })).status).toBe(404);
    expect((await read(owner, id)).body.data.address.city).toBe('Bandung');
    expect((await change(platform, id, { city: 'Bogor' })).status).toBe(200);
  });

  it('Any admin of an organization may change its address', async () => {
    const admin = await buildOrganizationAdmin(stack);
    const id = await idOf(admin, { ...required, address_type: 'organization' });
    const colleague = await buildOrganizationAdmin(stack, { organizationId: admin.organizationId });
    expect((await change(colleague, id, { city: 'Bogor' })).status).toBe(200);
  });

  it('A change of address_type moves an address into the organization and back', async () => {
    const admin = await buildOrganizationAdmin(stack);
    const id = await idOf(admin);
    const moved = await change(admin, id, { address_type: 'organization' });
    expect(moved.body.data.address).toMatchObject({ organization_id: admin.organizationId });
    const back = await change(admin, id, { address_type: 'individual' });
    expect(back.body.data.address).toMatchObject({ organization_id: null, address_type: 'individual' });
    expect((await change(owner, await idOf(owner), { address_type: 'organization' })).status).toBe(400);
  });

  it('An empty change of an address changes nothing and records no event', async () => {
    const id = await idOf(owner);
    expect((await change(owner, id, {})).body.data.address.updated_by).toBeNull();
    expect(await eventsOf(id)).toHaveLength(1);
  });

  it('Changing an address with an unknown field, an empty city or a malformed id returns 400', async () => {
    const id = await idOf(owner);
    const statuses = [
      await change(owner, id, { colour: 'blue' }),
      await change(owner, id, { city: '' }),
      await change(owner, 'nonsense', {}),
    ].map(({ status }) => status);
    expect(statuses).toEqual([400, 400, 400]);
  });
});

describe('At rest', () => {
  it('No field of an address is readable in its row, and fields encrypted for another row do not decrypt', async () => {
    const [first, second] = [await idOf(owner, whole), await idOf(owner)];
    const [row] = await stack
      .em()
      .execute<{ text: string }[]>('select a::text as text from addresses a where id = ?', [first]);
    for (const value of Object.values({ ...whole, address_type: 'Rumah' }))
      expect(row?.text).not.toContain(`"${value}"`);
    expect(row?.text).not.toContain('Juanda');
    await stack
      .owner()
      .execute(
        'update addresses set details_sealed = (select details_sealed from addresses where id = ?) where id = ?',
        [first, second],
      );
    expect((await read(owner, second)).status).toBe(500);
    await stack.owner().execute('delete from addresses where id = ?', [second]);
  });
});
