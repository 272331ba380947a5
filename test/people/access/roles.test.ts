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

const defaultRole = (last: number): string => `00000000-0000-4000-8000-00000000010${last}`;

describe('Roles', () => {
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

  const role = (fields: object = {}) => ({
    name: `role_${newId()}`,
    description: 'For a test',
    permissions: ['read-role'],
    ...fields,
  });
  const create = (by: BuiltUser, body: object) => stack.post('/v1/acl/roles', body, { token: by.token });
  const createOwn = (fields: object = {}) => create(admin, role({ organization_id: ownId, ...fields }));
  const eventsOf = async (id: string) =>
    (await stack.get(`/v1/events?resource_id=${id}`, { token: superAdmin.token })).body.data.items;
  const namesOf = async (id: string): Promise<string[]> => {
    const { body } = await stack.get(`/v1/acl/roles/${id}/permissions`, { token: superAdmin.token });
    return body.permissions.map(({ name }: { name: string }) => name);
  };

  describe('POST /v1/acl/roles', () => {
    it('Creating a role returns 201 with flat fields and records RESOURCE_CREATED with impact HIGH', async () => {
      const requestId = `request-${newId()}`;
      const { status, body } = await stack.post(
        '/v1/acl/roles',
        {
          name: 'treasury_auditor',
          description: 'Reads',
          organization_id: ownId,
          permissions: ['read-role', 'read-user'],
        },
        { token: admin.token, headers: { 'x-request-id': requestId } },
      );
      expect(status).toBe(201);
      expect(body).toEqual({
        message: expect.any(String),
        id: expect.any(String),
        name: 'treasury_auditor',
        display_name: 'Treasury Auditor',
        organization_id: ownId,
        user_type: 'organization',
        description: 'Reads',
        created_by: admin.id,
        updated_by: admin.id,
        created_at: expect.stringMatching(/\.\d{3}Z$/),
        updated_at: expect.stringMatching(/\.\d{3}Z$/),
        deleted_at: null,
      });
      expect(await namesOf(body.id)).toEqual(['read-role', 'read-user']);
      expect(await eventsOf(body.id)).toEqual([
        expect.objectContaining({
          event: 'RESOURCE_CREATED',
          impact: 'HIGH',
          resource_type: 'role',
          resource_id: body.id,
          actor_id: admin.id,
          request_id: requestId,
        }),
      ]);
    });

    it('A platform admin who creates a role must send the organization_id of an existing organization', async () => {
      const missing = await create(platformAdmin, role());
      expect([missing.status, missing.body.message]).toEqual([400, 'organization_id: is required']);
      expect((await create(platformAdmin, role({ organization_id: newId() }))).status).toBe(404);
      expect((await create(platformAdmin, role({ organization_id: ownId }))).status).toBe(201);
    });

    it('An organization admin who creates a role without their own organization_id gets 403', async () => {
      for (const organization_id of [undefined, await buildOrganization(stack)]) {
        const { status, body } = await create(admin, role({ organization_id }));
        expect([status, body.message]).toEqual([403, 'A role cannot be created for another organization']);
      }
    });

    it.each([
      ['no name', { name: undefined }, 'name: is required'],
      ['an empty name', { name: '' }, 'name: must not be empty'],
      ['no description', { description: undefined }, 'description: is required'],
      ['no permissions', { permissions: undefined }, 'permissions: is required'],
      ['permissions that are not a list', { permissions: 'read-role' }, /^permissions: /],
      ['a malformed organization_id', { organization_id: '7' }, 'organization_id: must be a UUID'],
      [
        'a permission with a control character',
        { permissions: ['a\u0000'] },
        'permissions.0: must not contain control characters',
      ],
      ['an unknown field', { user_type: 'platform' }, 'user_type: unknown field'],
    ])('Creating a role with %s returns 400', async (_, fields, message) => {
      const { status, body } = await createOwn(fields);
      expect(status).toBe(400);
      expect(body).toEqual({
        message: expect.stringMatching(message),
        statusCode: 400,
        error: 'Bad Request',
        code: 'REQUEST_INVALID',
      });
    });

    it('A role’s name may have 100 characters, even if capitalizing lengthens it', async () => {
      for (const letter of ['x', 'ß', 'ﬃ']) {
        const name = `${newId()}${`-${letter}`.repeat(32)}`;
        const { status, body } = await createOwn({ name });
        expect([status, body.name]).toEqual([201, name]);
        expect((await stack.patch(`/v1/acl/roles/${body.id}`, { name }, { token: admin.token })).status).toBe(200);
      }
    });

    it('Creating a role with unknown permission names returns 400 and names each', async () => {
      const { status, body } = await createOwn({ permissions: ['read-role', 'fly', 'swim'] });
      expect(status).toBe(400);
      expect(body.message).toEqual(['permissions: unknown permission fly', 'permissions: unknown permission swim']);
    });

    it('The error about unknown permissions names at most twenty', async () => {
      const permissions = Array.from({ length: 500 }, (_, index) => `fly-${index}`);
      const { status, body } = await createOwn({ permissions });
      expect([status, body.message.length]).toEqual([400, 20]);
    });

    it('Creating a role with permissions that the caller does not hold returns 403', async () => {
      const { status, body } = await createOwn({ permissions: ['read-role', 'manage-product'] });
      expect(status).toBe(403);
      expect(body.message).toContain('manage-product');
      const partner = await create(platformAdmin, role({ organization_id: ownId, permissions: ['manage-partner'] }));
      expect(partner.status).toBe(403);
      const bySuper = await create(superAdmin, role({ organization_id: ownId, permissions: ['manage-partner'] }));
      expect(bySuper.status).toBe(201);
    });

    it('A role’s name is unique across organizations and default roles until the role is deleted', async () => {
      const name = `taken_${newId()}`;
      const { body } = await createOwn({ name });
      const other = await buildOrganizationAdmin(stack);
      const elsewhere = () => create(other, role({ name, organization_id: other.organizationId }));
      expect((await elsewhere()).status).toBe(400);
      expect((await createOwn({ name: 'organization_admin' })).status).toBe(400);
      expect((await createOwn({ name: 'Platform_Admin' })).status).toBe(400);
      await stack.delete(`/v1/acl/roles/${body.id}`, undefined, { token: admin.token });
      expect((await elsewhere()).status).toBe(201);
    });

    it('Concurrent requests for one role name create one role', async () => {
      const name = `race_${newId()}`;
      const answers = await Promise.all(Array.from({ length: 8 }, () => createOwn({ name })));
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 400)).toHaveLength(7);
    });
  });

  describe('GET /v1/acl/roles', () => {
    const list = async (by: BuiltUser, query = '') => {
      const { status, body } = await stack.get(`/v1/acl/roles?limit=100${query}`, { token: by.token });
      expect(status).toBe(200);
      return body as {
        roles: { id: string; name: string; organization_id: string | null; user_type: string }[];
        total: number;
      };
    };

    it('Roles are listed with message, roles, page, limit and total, ten rows by default', async () => {
      const { body } = await stack.get('/v1/acl/roles', { token: superAdmin.token });
      const { next: _, ...envelope } = body;
      expect(Object.keys(envelope).sort()).toEqual(['limit', 'message', 'page', 'roles', 'total']);
      expect([body.page, body.limit]).toEqual([1, 10]);
      expect(body.roles.length).toBeLessThanOrEqual(10);
    });

    it('Organizations list their own and their default roles, whatever organization_id they send', async () => {
      const foreign = await buildRole(stack);
      await createOwn();
      for (const query of ['', `&organization_id=${foreign.organizationId}`]) {
        const { roles } = await list(admin, query);
        expect(new Set(roles.map((each) => each.organization_id))).toEqual(new Set([ownId, null]));
        const defaults = roles.filter((each) => each.organization_id === null).map(({ name }) => name);
        expect(defaults.sort()).toEqual(['individual_user', 'organization_admin']);
      }
    });

    it('Platform users list all roles and can filter them by organization_id', async () => {
      const { organizationId, id } = await buildRole(stack);
      expect((await list(superAdmin, `&organization_id=${organizationId}`)).roles.map((each) => each.id)).toEqual([id]);
      expect((await list(superAdmin)).total).toBeGreaterThan(4);
    });

    it.each([
      ['role_type=default', ['individual_user', 'organization_admin', 'platform_admin', 'platform_super_admin']],
      ['role_type=default&user_type=platform', ['platform_admin', 'platform_super_admin']],
      ['user_type=individual', ['individual_user']],
    ])('Roles can be filtered by %s', async (query, names) => {
      expect((await list(superAdmin, `&${query}`)).roles.map(({ name }) => name).sort()).toEqual(names);
    });

    it('Roles can be filtered by role_type=custom', async () => {
      const { roles } = await list(admin, '&role_type=custom');
      expect(roles.every((each) => each.organization_id === ownId)).toBe(true);
    });

    it.each(['page=0', 'limit=0', 'limit=101', 'limit=x', 'role_type=other', 'user_type=other', 'organization_id=7'])(
      'Listing roles with %s returns 400',
      async (query) => {
        expect((await stack.get(`/v1/acl/roles?${query}`, { token: admin.token })).status).toBe(400);
      },
    );

    it('Deleted roles are not listed', async () => {
      const { body } = await createOwn();
      await stack.delete(`/v1/acl/roles/${body.id}`, undefined, { token: admin.token });
      expect((await list(admin)).roles.map(({ id }) => id)).not.toContain(body.id);
    });
  });

  describe('GET /v1/acl/roles/:role_id', () => {
    const read = (by: BuiltUser, id: string) => stack.get(`/v1/acl/roles/${id}`, { token: by.token });

    it('Reading a role returns message and flat fields', async () => {
      const { body } = await createOwn();
      const found = await read(admin, body.id);
      expect([found.status, found.body]).toEqual([200, { ...body, message: expect.any(String) }]);
    });

    it('Reading a role returns 400 for a malformed id, 404 for a missing role and 403 for a foreign one', async () => {
      const foreign = await buildRole(stack);
      const { body } = await createOwn();
      await stack.delete(`/v1/acl/roles/${body.id}`, undefined, { token: admin.token });
      expect((await read(admin, '7')).status).toBe(400);
      expect((await read(admin, newId())).status).toBe(404);
      expect((await read(admin, body.id)).status).toBe(404);
      expect((await read(admin, foreign.id)).status).toBe(403);
      expect((await read(platformAdmin, foreign.id)).status).toBe(200);
      expect((await read(admin, defaultRole(3))).status).toBe(200);
      expect((await read(admin, defaultRole(4))).status).toBe(200);
      expect((await read(admin, defaultRole(1))).status).toBe(403);
    });
  });

  describe('PATCH /v1/acl/roles/:role_id', () => {
    const change = (by: BuiltUser, id: string, body: object) =>
      stack.patch(`/v1/acl/roles/${id}`, body, { token: by.token });

    it('Changing a role replaces the whole permission list and records RESOURCE_UPDATED', async () => {
      const { body } = await createOwn({ permissions: ['read-role', 'read-user'] });
      const answer = await change(admin, body.id, { name: `new_${body.id}`, permissions: ['read-permission'] });
      expect(answer.status).toBe(200);
      expect(Object.keys(answer.body).sort()).toEqual(['message', 'role']);
      expect(answer.body.role).toMatchObject({ id: body.id, name: `new_${body.id}`, updated_by: admin.id });
      expect(await namesOf(body.id)).toEqual(['read-permission']);
      expect((await eventsOf(body.id))[0]).toMatchObject({ event: 'RESOURCE_UPDATED', impact: 'MEDIUM' });
    });

    it('Changing a role affects only the fields sent, and accepts an empty permission list', async () => {
      const { body } = await createOwn();
      expect((await change(admin, body.id, { description: 'Other' })).body.role).toMatchObject({
        name: body.name,
        description: 'Other',
      });
      expect(await namesOf(body.id)).toEqual(['read-role']);
      expect((await change(admin, body.id, { permissions: [] })).status).toBe(200);
      expect(await namesOf(body.id)).toEqual([]);
    });

    it('Changing a role rejects unknown permissions, those that the caller lacks, and taken names', async () => {
      const { body } = await createOwn();
      const unknown = await change(admin, body.id, { permissions: ['fly'] });
      expect([unknown.status, unknown.body.message]).toEqual([400, 'permissions: unknown permission fly']);
      expect((await change(admin, body.id, { permissions: ['manage-product'] })).status).toBe(403);
      const taken = await change(admin, body.id, { name: 'platform_admin', permissions: [] });
      expect([taken.status, taken.body.message]).toEqual([400, 'name: a role named platform_admin already exists']);
      expect(await namesOf(body.id)).toEqual(['read-role']);
      expect((await change(admin, body.id, { colour: 'red' })).status).toBe(400);
    });

    it('Changing a role returns 400 for a default role, 403 for a foreign and 404 for a missing one', async () => {
      const foreign = await buildRole(stack);
      for (const last of [1, 2, 3, 4]) {
        const { status, body } = await change(superAdmin, defaultRole(last), { description: 'x' });
        expect([status, body.message]).toEqual([400, expect.stringContaining('is a default role')]);
      }
      expect((await change(admin, defaultRole(3), { permissions: [] })).status).toBe(400);
      expect((await change(admin, foreign.id, { description: 'x' })).status).toBe(403);
      expect((await change(admin, newId(), { description: 'x' })).status).toBe(404);
      expect((await change(admin, '7', { description: 'x' })).status).toBe(400);
      expect((await change(platformAdmin, foreign.id, { description: 'x' })).status).toBe(200);
    });

    it('Users lose a permission removed from their role at their next request', async () => {
      const { body } = await createOwn({ permissions: ['read-user', 'read-role'] });
      const holder = await buildOrganizationAdmin(stack, { organizationId: ownId, role: body.name });
      expect((await stack.get('/v1/users', { token: holder.token })).status).toBe(200);
      await change(admin, body.id, { permissions: ['read-role'] });
      const refused = await stack.get('/v1/users', { token: holder.token });
      expect([refused.status, refused.body.message]).toEqual([403, 'The permission read-user is needed']);
      expect((await stack.get('/v1/acl/roles', { token: holder.token })).status).toBe(200);
    });
  });

  describe('DELETE /v1/acl/roles/:role_id', () => {
    const remove = (by: BuiltUser, id: string) => stack.delete(`/v1/acl/roles/${id}`, undefined, { token: by.token });

    it('Deleting a role marks it deleted and records RESOURCE_DELETED with impact HIGH', async () => {
      const { body } = await createOwn();
      const { status, body: answer } = await remove(admin, body.id);
      expect([status, Object.keys(answer)]).toEqual([200, ['message']]);
      const [row] = await stack
        .em()
        .execute<{ deleted_at: string }[]>('select deleted_at from roles where id = ?', [body.id]);
      expect(row?.deleted_at).toBeTruthy();
      expect((await eventsOf(body.id))[0]).toMatchObject({ event: 'RESOURCE_DELETED', impact: 'HIGH' });
      expect((await remove(admin, body.id)).status).toBe(404);
    });

    it('Deleting a role that users hold returns 400 with the number of users', async () => {
      const { body } = await createOwn();
      await buildIndividual(stack, { organizationId: ownId, role: body.name });
      expect((await remove(admin, body.id)).body.message).toBe('The role cannot be deleted: 1 user holds it');
      await buildOrganizationAdmin(stack, { organizationId: ownId, role: body.name });
      const { status, body: answer } = await remove(admin, body.id);
      expect([status, answer.message]).toEqual([400, 'The role cannot be deleted: 2 users hold it']);
    });

    it('Deleting a role returns 400 for a default role, 403 for a foreign and 404 for a missing one', async () => {
      const foreign = await buildRole(stack);
      for (const last of [1, 2, 3, 4]) expect((await remove(superAdmin, defaultRole(last))).status).toBe(400);
      expect((await remove(admin, foreign.id)).status).toBe(403);
      expect((await remove(admin, newId())).status).toBe(404);
      expect((await remove(admin, 'x')).status).toBe(400);
    });
  });

  describe('Permissions', () => {
    it('GET /v1/acl/permissions lists every permission with its name, paged', async () => {
      const { status, body } = await stack.get('/v1/acl/permissions?limit=100', { token: admin.token });
      expect(status).toBe(200);
      expect(Object.keys(body).sort()).toEqual(['limit', 'message', 'page', 'permissions', 'total']);
      expect(body.permissions[0]).toEqual({
        id: expect.any(String),
        name: expect.any(String),
        display_name: expect.any(String),
        description: expect.any(String),
        category_id: expect.any(String),
        created_at: expect.any(String),
        updated_at: expect.any(String),
      });
      const names = body.permissions.map(({ name }: { name: string }) => name);
      const documented = [
        'create-role',
        'read-role',
        'update-role',
        'delete-role',
        'assign-role',
        'unassign-role',
        'read-permission',
        'delete-permission',
        'invite-individual-user',
        'invite-organization-admin',
        'invite-platform-admin',
        'read-organization',
        'update-organization',
        'create-address',
        'read-address',
        'update-address',
        'upload-document',
        'create-document',
        'read-document',
        'update-document',
        'delete-document',
        'create-official-document',
        'read-official-document',
        'update-official-document',
        'delete-official-document',
      ];
      expect(names).toEqual(expect.arrayContaining(documented));
      expect(body.total).toBe(names.length);
    });

    it('GET /v1/acl/permissions neither omits nor repeats a row, whether paged by page or by after', async () => {
      const seen: string[] = [];
      for (let page = 1; page <= 20; page += 1) {
        const { body } = await stack.get(`/v1/acl/permissions?limit=7&page=${page}`, { token: admin.token });
        seen.push(...body.permissions.map(({ id }: { id: string }) => id));
      }
      const { body } = await stack.get('/v1/acl/permissions?limit=100', { token: admin.token });
      expect(seen).toEqual(body.permissions.map(({ id }: { id: string }) => id));
      expect(new Set(seen).size).toBe(body.total);
      const after = await stack.get(`/v1/acl/permissions?limit=100&after=${seen[9]}`, { token: admin.token });
      expect(after.body.permissions.map(({ id }: { id: string }) => id)).toEqual(seen.slice(10));
    });

    it('GET /v1/acl/permissions/:permission_id returns flat fields, or 404 for a missing id', async () => {
      const { body } = await stack.get('/v1/acl/permissions?limit=1', { token: admin.token });
      const [permission] = body.permissions;
      const found = await stack.get(`/v1/acl/permissions/${permission.id}`, { token: admin.token });
      expect([found.status, found.body]).toEqual([200, { message: expect.any(String), ...permission }]);
      expect((await stack.get('/v1/acl/permissions/7', { token: admin.token })).status).toBe(400);
      expect((await stack.get(`/v1/acl/permissions/${newId()}`, { token: admin.token })).status).toBe(404);
    });

    it('GET /v1/acl/roles/:role_id/permissions is not paged, and returns 403 for a foreign role', async () => {
      const { body } = await stack.get(`/v1/acl/roles/${defaultRole(3)}/permissions?limit=1`, { token: admin.token });
      expect(Object.keys(body).sort()).toEqual(['message', 'permissions']);
      expect(body.permissions.length).toBeGreaterThan(30);
      const foreign = await buildRole(stack);
      const read = (id: string) => stack.get(`/v1/acl/roles/${id}/permissions`, { token: admin.token });
      expect((await read(foreign.id)).status).toBe(403);
      expect((await read(newId())).status).toBe(404);
      expect((await read('7')).status).toBe(400);
    });

    it('DELETE /v1/acl/roles/:role_id/permissions removes permissions and records RESOURCE_UPDATED', async () => {
      const { body } = await createOwn({ permissions: ['read-role', 'read-user', 'read-permission'] });
      const path = `/v1/acl/roles/${body.id}/permissions`;
      const answer = await stack.delete(
        path,
        { permissions: ['read-user', 'read-permission'] },
        { token: admin.token },
      );
      expect([answer.status, Object.keys(answer.body)]).toEqual([200, ['message']]);
      expect(await namesOf(body.id)).toEqual(['read-role']);
      expect((await eventsOf(body.id))[0]).toMatchObject({ event: 'RESOURCE_UPDATED', resource_type: 'role' });
    });

    it('DELETE /v1/acl/roles/:role_id/permissions records only permissions that the role had', async () => {
      const { body } = await createOwn({ permissions: ['read-role'] });
      const before = await eventsOf(body.id);
      const path = `/v1/acl/roles/${body.id}/permissions`;
      const answer = await stack.delete(path, { permissions: ['read-user'] }, { token: admin.token });
      expect(answer.status).toBe(200);
      expect(await eventsOf(body.id)).toEqual(before);
      await stack.delete(path, { permissions: ['read-user', 'read-role'] }, { token: admin.token });
      expect((await eventsOf(body.id))[0]).toMatchObject({ data: { detached: ['read-role'] } });
    });

    it('DELETE /v1/acl/roles/:role_id/permissions rejects unknown names, default roles and foreign roles', async () => {
      const { body } = await createOwn();
      const foreign = await buildRole(stack);
      const detach = (id: string, sent: object) =>
        stack.delete(`/v1/acl/roles/${id}/permissions`, sent, { token: admin.token });
      expect((await detach(body.id, { permissions: [] })).body.message).toBe('permissions: must not be empty');
      expect((await detach(body.id, {})).body.message).toBe('permissions: is required');
      expect((await detach(body.id, { permissions: ['fly'] })).body.message).toBe(
        'permissions: unknown permission fly',
      );
      expect((await detach(defaultRole(3), { permissions: ['read-role'] })).status).toBe(400);
      expect((await detach(foreign.id, { permissions: ['read-role'] })).status).toBe(403);
      expect((await detach(newId(), { permissions: ['read-role'] })).status).toBe(404);
    });
  });

  describe('The default roles', () => {
    it('The default roles have the documented permissions', async () => {
      const everything = (
        await stack.get('/v1/acl/permissions?limit=100', { token: superAdmin.token })
      ).body.permissions
        .map(({ name }: { name: string }) => name)
        .sort();
      expect(await namesOf(defaultRole(1))).toEqual(everything);
      const kept = ['approve-charitable-cause', 'allocate-open-donation', 'manage-partner', 'approve-decision'];
      expect(await namesOf(defaultRole(2))).toEqual(everything.filter((name: string) => !kept.includes(name)));
      const individual = await namesOf(defaultRole(4));
      expect(individual).toEqual([
        'contribute-saving-goal',
        'create-account',
        'create-address',
        'create-charitable-cause',
        'create-document',
        'create-investment',
        'create-official-document',
        'create-saving-circle',
        'delete-charitable-cause',
        'delete-document',
        'delete-official-document',
        'delete-saving-circle',
        'donate-charitable-cause',
        'pay-commodity-financing',
        'pay-takaful',
        'read-account',
        'read-address',
        'read-charitable-cause',
        'read-document',
        'read-official-document',
        'read-organization',
        'read-product',
        'read-saving-circle',
        'read-transaction',
        'top-up-account',
        'update-address',
        'update-charitable-cause',
        'update-document',
        'update-official-document',
        'update-saving-circle',
        'upload-document',
        'withdraw-account',
      ]);
      const ofAdmins = [
        'create-role',
        'read-role',
        'update-role',
        'delete-role',
        'assign-role',
        'unassign-role',
        'read-permission',
        'delete-permission',
        'invite-individual-user',
        'invite-organization-admin',
        'update-organization',
        'read-user',
      ];
      expect(await namesOf(defaultRole(3))).toEqual([...individual, ...ofAdmins].sort());
    });
  });
});
