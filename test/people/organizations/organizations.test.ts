import { newId } from '../../../src/shared/ids.ts';
import {
  type BuiltUser,
  buildIndividual,
  buildOrganization,
  buildOrganizationAdmin,
  buildPlatformAdmin,
  buildRole,
  buildSuperAdmin,
} from '../../support/build.ts';
import { type Stack, startStack } from '../../support/stack.ts';

describe('Organizations', () => {
  let stack: Stack;
  let superAdmin: BuiltUser;
  let platformAdmin: BuiltUser;
  let admin: BuiltUser;
  let ownId: string;
  beforeAll(async () => {
    stack = await startStack();
    superAdmin = await buildSuperAdmin(stack);
    platformAdmin = await buildPlatformAdmin(stack);
    admin = await buildOrganizationAdmin(stack);
    ownId = String(admin.organizationId);
  });
  afterAll(() => stack?.stop());

  const get = (path: string, by: BuiltUser) => stack.get(`/v1/organizations${path}`, { token: by.token });
  const change = (id: string, body: object, by: BuiltUser) =>
    stack.patch(`/v1/organizations/${id}`, body, { token: by.token });
  const eventsOf = async (query: string) =>
    (await stack.get(`/v1/events?resource_type=organization&${query}`, { token: superAdmin.token })).body.data.items;

  describe('GET /v1/organizations', () => {
    it('Platform users list organizations by page, and RESOURCE_FETCHED is recorded with impact LOW', async () => {
      const { status, body } = await get('', platformAdmin);
      expect(status).toBe(200);
      const { next: _, ...envelope } = body;
      expect(Object.keys(envelope).sort()).toEqual(['limit', 'message', 'organizations', 'page', 'total']);
      expect([body.page, body.limit]).toEqual([1, 10]);
      expect(await eventsOf(`actor_id=${platformAdmin.id}`)).toEqual([
        expect.objectContaining({ event: 'RESOURCE_FETCHED', impact: 'LOW', resource_id: null }),
      ]);
    });

    it('Listing organizations returns 403 to organization admins and individuals', async () => {
      expect((await get('', admin)).status).toBe(403);
      expect((await get('', await buildIndividual(stack))).status).toBe(403);
    });

    it('Organizations are listed newest first by default, and in reverse with order=asc', async () => {
      await buildOrganization(stack);
      const ids = async (query: string): Promise<string[]> =>
        (await get(`?limit=100${query}`, platformAdmin)).body.organizations.map(({ id }: { id: string }) => id);
      expect(await ids('&order=asc')).toEqual((await ids('')).toReversed());
      expect((await get('?order=up', platformAdmin)).status).toBe(400);
    });
  });

  describe('GET /v1/organizations/sizes', () => {
    it('Sizes are listed with id, label and range to platform and organization users', async () => {
      for (const by of [platformAdmin, admin]) {
        const { status, body } = await get('/sizes?order=asc', by);
        expect([status, body.total]).toEqual([200, 4]);
        expect(body.sizes.map(({ label }: { label: string }) => label)).toEqual([
          'tens',
          'hundreds',
          'thousands',
          'millions',
        ]);
        expect(Object.keys(body.sizes[0]).sort()).toEqual(['id', 'label', 'range']);
      }
      expect((await get('/sizes', await buildIndividual(stack))).status).toBe(403);
    });
  });

  describe('GET /v1/organizations/industries', () => {
    it('Industries are listed with id, value and label, spelled as documented', async () => {
      const { status, body } = await get('/industries?order=asc&limit=100', admin);
      expect([status, body.total]).toEqual([200, 11]);
      expect(body.industries.map(({ value }: { value: string }) => value)).toEqual([
        'finance',
        'health',
        'agriculture',
        'education',
        'technnology',
        'manufacturing',
        'marine',
        'aviation',
        'security',
        'government',
        'ngo',
      ]);
      expect(Object.keys(body.industries[0]).sort()).toEqual(['id', 'label', 'value']);
      expect((await get('/industries', await buildIndividual(stack))).status).toBe(403);
    });

    it.each(['page=0', 'limit=0', 'limit=101', 'page=x', 'order=x'])(
      'Listing organizations, sizes and industries with %s returns 400',
      async (query) => {
        for (const path of ['', '/sizes', '/industries']) {
          expect((await get(`${path}?${query}`, platformAdmin)).status).toBe(400);
        }
      },
    );
  });

  describe('GET /v1/organizations/:organization_id', () => {
    it('An organization is returned with flat fields to platform users and its own users', async () => {
      const employee = await buildIndividual(stack, { organizationId: ownId });
      for (const by of [platformAdmin, admin, employee]) {
        const { status, body } = await get(`/${ownId}`, by);
        expect(status).toBe(200);
        expect(body).toMatchObject({
          message: expect.any(String),
          id: ownId,
          name: expect.any(String),
          logo_id: null,
          email: expect.any(String),
          phone_number: null,
          official_registration_number: null,
          status: 'active',
          created_at: expect.any(String),
          updated_at: expect.any(String),
        });
      }
    });

    it('Reading an organization returns 403 to outsiders, 404 for a missing and 400 for a malformed id', async () => {
      const otherId = await buildOrganization(stack);
      expect((await get(`/${otherId}`, admin)).status).toBe(403);
      expect((await get(`/${ownId}`, await buildIndividual(stack))).status).toBe(403);
      expect((await get(`/${newId()}`, platformAdmin)).status).toBe(404);
      expect((await get('/7', platformAdmin)).status).toBe(400);
    });

    it('Reading an organization needs read-organization', async () => {
      const role = await buildRole(stack, { organizationId: ownId, permissions: ['read-role'] });
      const clerk = await buildOrganizationAdmin(stack, { organizationId: ownId, role: role.name });
      expect((await get(`/${ownId}`, clerk)).status).toBe(403);
    });
  });

  describe('PATCH /v1/organizations/:organization_id', () => {
    it('Changing an organization affects the fields sent and records RESOURCE_UPDATED without values', async () => {
      const fields = {
        name: 'Yayasan Baru',
        logo_id: ' kept as sent ',
        email: 'new@example.org',
        phone_number: '021-555',
        official_registration_number: 'AHU-7',
      };
      const { status, body } = await change(ownId, fields, admin);
      expect(status).toBe(200);
      expect(body).toMatchObject({ message: expect.any(String), id: ownId, status: 'active', ...fields });
      const [event] = await eventsOf(`resource_id=${ownId}`);
      expect(event).toMatchObject({ event: 'RESOURCE_UPDATED', impact: 'MEDIUM', actor_id: admin.id });
      expect(JSON.stringify(event)).not.toContain('new@example.org');
    });

    it('Null clears optional fields of an organization', async () => {
      const cleared = { logo_id: null, phone_number: null, official_registration_number: null };
      await change(ownId, { logo_id: 'logo', phone_number: '021-555', official_registration_number: 'AHU-7' }, admin);
      expect(await change(ownId, cleared, admin)).toMatchObject({ status: 200, body: cleared });
      expect((await change(ownId, { email: null }, admin)).status).toBe(400);
    });

    it('Changing another organization returns 401 to everyone but a super admin', async () => {
      const otherId = await buildOrganization(stack);
      for (const by of [admin, platformAdmin]) {
        const { status, body } = await change(otherId, { name: 'Taken over' }, by);
        expect([status, body.error]).toEqual([401, 'Unauthorized']);
      }
      expect((await change(otherId, { name: 'Corrected' }, superAdmin)).body.name).toBe('Corrected');
      expect((await change(newId(), { name: 'x' }, admin)).status).toBe(401);
      expect((await change(newId(), { name: 'x' }, superAdmin)).status).toBe(404);
    });

    it('Changing an organization without update-organization returns 403, even for a missing one', async () => {
      const employee = await buildIndividual(stack, { organizationId: ownId });
      expect((await change(ownId, { name: 'x' }, employee)).status).toBe(403);
      expect((await change(newId(), { name: 'x' }, employee)).status).toBe(403);
    });

    it('A super admin can set any status of an organization, and its own admins only inactive', async () => {
      const organizationId = await buildOrganization(stack, { status: 'pending' });
      const own = await buildOrganizationAdmin(stack, { organizationId });
      for (const status of ['active', 'suspended']) {
        expect((await change(organizationId, { status }, own)).status).toBe(403);
      }
      expect((await change(organizationId, { status: 'pending' }, own)).body.status).toBe('pending');
      for (const status of ['active', 'suspended', 'inactive', 'pending', 'active']) {
        expect((await change(organizationId, { status }, superAdmin)).body.status).toBe(status);
      }
      expect((await change(organizationId, { status: 'inactive' }, own)).body.status).toBe('inactive');
      expect((await change(organizationId, { status: 'closed' }, superAdmin)).status).toBe(400);
    });

    it.each([
      ['industry', 'finance'],
      ['id', newId()],
      ['name', ''],
      ['name', 7],
      ['email', 'nobody'],
      ['phone_number', 'call me'],
      ['status', 'gone'],
    ])('Changing an organization with %s: %j returns 400', async (field, value) => {
      expect((await change(ownId, { [field]: value }, admin)).status).toBe(400);
    });
  });

  it('An organization’s individuals cannot set its status, not even to inactive', async () => {
    const role = await buildRole(stack, { organizationId: ownId, permissions: ['update-organization'] });
    const member = await buildIndividual(stack, { organizationId: ownId, role: role.name });
    const { status, body } = await change(ownId, { status: 'inactive', name: 'Closed' }, member);
    expect([status, body.message]).toEqual([403, expect.stringMatching(/^status: only a platform super admin/)]);
    const { body: found } = await get(`/${ownId}`, admin);
    expect([found.status, found.name]).toEqual(['active', expect.not.stringMatching('Closed')]);
    expect((await change(ownId, { phone_number: '+6221500' }, member)).status).toBe(200);
  });

  describe('Inactive, suspended and pending organizations', () => {
    it.each(['inactive', 'suspended'])(
      'Users of an organization that is %s may read and log out but not write',
      async (status) => {
        const organizationId = await buildOrganization(stack, { status });
        const own = await buildOrganizationAdmin(stack, { organizationId });
        const employee = await buildIndividual(stack, { organizationId });
        expect((await get(`/${organizationId}`, own)).status).toBe(200);
        expect((await get(`/${organizationId}`, employee)).status).toBe(200);
        for (const by of [own, employee]) {
          const pocket = await stack.post('/v1/accounts', { name: 'More' }, { token: by.token });
          expect([pocket.status, pocket.body.message]).toEqual([403, expect.stringContaining(status)]);
        }
        expect((await change(organizationId, { name: 'x' }, own)).status).toBe(403);
        expect((await stack.post('/v1/auth/logout', undefined, { token: own.token })).status).toBe(200);
      },
    );

    it('Users of a pending organization may write', async () => {
      const organizationId = await buildOrganization(stack, { status: 'pending' });
      const own = await buildOrganizationAdmin(stack, { organizationId });
      expect((await change(organizationId, { name: 'x' }, own)).status).toBe(200);
    });
  });
});
