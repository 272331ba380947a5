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
import { invitationToken } from '../../support/mail.ts';
import { type Stack, startStack } from '../../support/stack.ts';

const password = 'correct horse battery';
const address = (): string => `${newId()}@example.org`;

describe('Users', () => {
  let stack: Stack;
  let superAdmin: BuiltUser;
  let platformAdmin: BuiltUser;
  let admin: BuiltUser;
  beforeAll(async () => {
    stack = await startStack();
    superAdmin = await buildSuperAdmin(stack);
    platformAdmin = await buildPlatformAdmin(stack);
    admin = await buildOrganizationAdmin(stack);
  });
  afterAll(() => stack?.stop());

  const invite = async (by: BuiltUser, body: object) => {
    const fields = { email: address(), name: 'Invited', ...body };
    const answer = await stack.post('/v1/users/invitations', fields, { token: by.token });
    expect(answer.body.data?.token).toBeUndefined();
    if (answer.status === 201) answer.body.data.token = await invitationToken(stack, answer.body.data.id);
    return answer;
  };
  const accept = (token: string, secret = password) =>
    stack.post('/v1/auth/invitations/accept', { token, password: secret });

  describe('Invitations', () => {
    it('An invitation creates a user with the type’s default role; accepting it activates the user', async () => {
      const email = address();
      const { status, body } = await invite(admin, { email, user_type: 'individual' });
      expect(status).toBe(201);
      expect(body.data.user).toMatchObject({
        email,
        status: 'invited',
        user_type: 'individual',
        organization_id: admin.organizationId,
        role_id: '00000000-0000-4000-8000-000000000104',
      });
      const accepted = await accept(body.data.token);
      expect([accepted.status, accepted.body.data.status]).toEqual([200, 'active']);
      const logged = await stack.post('/v1/auth/login', { email, password });
      expect(logged.status).toBe(200);
      const accounts = await stack.get('/v1/accounts', { token: logged.body.data.access_token });
      expect(accounts.body.data.items).toHaveLength(1);
      const again = await accept(body.data.token);
      expect([again.status, again.body.message]).toEqual([
        400,
        'token: the invitation is unknown, expired or already accepted',
      ]);
    });

    it('An invitation is accepted once, even by concurrent requests', async () => {
      const { body } = await invite(admin, { user_type: 'organization' });
      const answers = await Promise.all(Array.from({ length: 5 }, () => accept(body.data.token)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400]);
    });

    it('An invitation cannot be accepted after its expiry, with an unknown token or a short password', async () => {
      const { body } = await invite(admin, { user_type: 'organization' });
      expect((await accept(body.data.token, 'short')).status).toBe(400);
      await stack
        .owner()
        .execute("update invitations set expires_at = now() - interval '1 second' where user_id = ?", [body.data.id]);
      expect((await accept(body.data.token)).status).toBe(400);
      expect((await accept('unknown')).status).toBe(400);
    });

    it('An invitation can be sent again until it is accepted, and revokes the earlier token', async () => {
      const email = address();
      const first = await invite(admin, { email, user_type: 'individual' });
      const second = await invite(admin, { email, user_type: 'individual' });
      expect(second.status).toBe(201);
      expect(second.body.data.user.id).toBe(first.body.data.user.id);
      expect((await accept(first.body.data.token)).status).toBe(400);
      expect((await accept(second.body.data.token)).status).toBe(200);
      const third = await invite(admin, { email, user_type: 'individual' });
      expect([third.status, third.body.message]).toEqual([400, 'email: a user with this address already exists']);
    });

    it.each([
      ['individual', 'invite-individual-user'],
      ['organization', 'invite-organization-admin'],
      ['platform', 'invite-platform-admin'],
    ])('An invitation of type %s needs the permission %s', async (userType, permission) => {
      const { body: permissions } = await stack.get('/v1/acl/permissions?limit=100', { token: superAdmin.token });
      const all = permissions.permissions.map(({ name }: { name: string }) => name);
      const organizationId = await buildOrganization(stack);
      const target = userType === 'platform' ? {} : { organization_id: organizationId };
      const inviterWith = async (held: string[]) => {
        const role = await buildRole(stack, { permissions: held });
        return buildPlatformAdmin(stack, { role: role.name });
      };
      const without = await inviterWith(all.filter((name: string) => name !== permission));
      const refused = await invite(without, { user_type: userType, ...target });
      expect([refused.status, refused.body.message]).toEqual([403, `The permission ${permission} is needed`]);
      const role = await buildRole(stack, { organizationId, permissions: [permission] });
      const inviter = await inviterWith([permission]);
      expect((await invite(inviter, { user_type: userType, role_id: role.id, ...target })).status).toBe(201);
    });

    it('An organization admin can invite only to their own organization', async () => {
      const other = await buildOrganization(stack);
      expect((await invite(admin, { user_type: 'organization', organization_id: other })).status).toBe(403);
      expect((await invite(admin, { user_type: 'organization', organization_id: admin.organizationId })).status).toBe(
        201,
      );
      expect((await invite(admin, { user_type: 'platform' })).status).toBe(403);
    });

    it('A platform admin must name an existing organization to invite users of type organization', async () => {
      const missing = await invite(platformAdmin, { user_type: 'organization' });
      expect([missing.status, missing.body.message]).toEqual([400, 'organization_id: is required']);
      expect((await invite(platformAdmin, { user_type: 'organization', organization_id: newId() })).status).toBe(404);
      expect((await invite(platformAdmin, { user_type: 'individual' })).status).toBe(201);
      const misplaced = await invite(platformAdmin, { user_type: 'platform', organization_id: admin.organizationId });
      expect(misplaced.status).toBe(400);
    });

    it('An invitation to a role that the inviter cannot assign returns 403, and to a missing role 404', async () => {
      const superRole = '00000000-0000-4000-8000-000000000101';
      expect((await invite(platformAdmin, { user_type: 'platform', role_id: superRole })).status).toBe(403);
      expect((await invite(superAdmin, { user_type: 'platform', role_id: superRole })).status).toBe(201);
      const organizationId = String(admin.organizationId);
      const strong = await buildRole(stack, { organizationId, permissions: ['manage-product'] });
      expect((await invite(admin, { user_type: 'individual', role_id: strong.id })).status).toBe(403);
      const foreign = await buildRole(stack, { permissions: ['read-role'] });
      expect((await invite(admin, { user_type: 'individual', role_id: foreign.id })).status).toBe(403);
      expect((await invite(admin, { user_type: 'individual', role_id: newId() })).status).toBe(404);
      const fitting = await buildRole(stack, { organizationId, permissions: ['read-role'] });
      expect((await invite(admin, { user_type: 'individual', role_id: fitting.id })).status).toBe(201);
    });

    it('An invitation never gives a platform role to a user of another type', async () => {
      const role_id = '00000000-0000-4000-8000-000000000102';
      expect((await invite(superAdmin, { user_type: 'individual', role_id })).status).toBe(400);
    });
  });

  describe('Lists and details of users', () => {
    it('Platform users list and read all users, and organization admins those of their organization', async () => {
      const colleague = await buildIndividual(stack, { organizationId: admin.organizationId });
      const stranger = await buildIndividual(stack);
      const own = await stack.get('/v1/users?limit=100', { token: admin.token });
      expect(own.status).toBe(200);
      expect(Object.keys(own.body.data).sort()).toEqual(['items', 'limit', 'page', 'total']);
      const organizations = new Set(
        own.body.data.items.map((user: { organization_id: string }) => user.organization_id),
      );
      expect([...organizations]).toEqual([admin.organizationId]);
      expect(own.body.data.total).toBe(own.body.data.items.length);
      const all = await stack.get(`/v1/users?organization_id=${admin.organizationId}`, { token: platformAdmin.token });
      expect(all.body.data.total).toBe(own.body.data.total);

      const detail = (id: string, token: string) => stack.get(`/v1/users/${id}`, { token });
      expect((await detail(colleague.id, admin.token)).body.data.id).toBe(colleague.id);
      expect((await detail(stranger.id, admin.token)).status).toBe(403);
      expect((await detail(stranger.id, platformAdmin.token)).status).toBe(200);
      expect((await detail(newId(), platformAdmin.token)).status).toBe(404);
      expect((await detail('7', platformAdmin.token)).status).toBe(400);
      expect((await detail(stranger.id, stranger.token)).status).toBe(403);
    });

    it('Paging users by page and by after returns the same rows', async () => {
      const organizationId = await buildOrganization(stack);
      for (let index = 0; index < 5; index += 1) await buildIndividual(stack, { organizationId });
      const list = async (query: string) => {
        const path = `/v1/users?organization_id=${organizationId}&${query}`;
        const { body } = await stack.get(path, { token: platformAdmin.token });
        return body.data as { items: { id: string }[]; total: number };
      };
      const ids = (await list('limit=100')).items.map(({ id }) => id);
      expect(ids).toHaveLength(5);
      expect((await list('limit=2&page=2')).items.map(({ id }) => id)).toEqual(ids.slice(2, 4));
      expect((await list(`limit=2&after=${ids[1]}`)).items.map(({ id }) => id)).toEqual(ids.slice(2, 4));
      expect((await list('limit=100&order=asc')).items.map(({ id }) => id)).toEqual(ids.toReversed());
      expect(await list('page=99')).toMatchObject({ items: [], total: 5 });
    });
  });

  describe('The suspension of users', () => {
    const setStatus = (by: BuiltUser, id: string, status: string) =>
      stack.patch(`/v1/users/${id}`, { status }, { token: by.token });

    it('A platform admin can suspend a user, effective from the next request', async () => {
      const user = await buildIndividual(stack);
      const answer = await setStatus(platformAdmin, user.id, 'suspended');
      expect([answer.status, answer.body.data.status]).toEqual([200, 'suspended']);
      expect((await stack.get('/v1/auth/me', { token: user.token })).status).toBe(401);
      const events = await stack.get(`/v1/events?resource_id=${user.id}`, { token: superAdmin.token });
      expect(events.body.data.items[0]).toMatchObject({
        event: 'RESOURCE_UPDATED',
        impact: 'HIGH',
        actor_id: platformAdmin.id,
        data: { status: 'suspended', previous_status: 'active' },
      });
    });

    it('Organization admins cannot suspend users, even with update-user', async () => {
      const user = await buildIndividual(stack, { organizationId: admin.organizationId });
      expect((await setStatus(admin, user.id, 'suspended')).status).toBe(403);
      const role = await buildRole(stack, {
        organizationId: String(admin.organizationId),
        permissions: ['update-user'],
      });
      const { organizationId } = admin;
      const strong = await buildOrganizationAdmin(stack, { organizationId, role: role.name });
      expect((await setStatus(strong, user.id, 'suspended')).status).toBe(403);
    });

    it('Only super admins can suspend a super admin, and users cannot suspend themselves', async () => {
      const other = await buildSuperAdmin(stack);
      expect((await setStatus(platformAdmin, other.id, 'suspended')).status).toBe(403);
      expect((await setStatus(superAdmin, other.id, 'suspended')).status).toBe(200);
      expect((await setStatus(superAdmin, superAdmin.id, 'suspended')).status).toBe(400);
    });

    it('Suspending a user who has not accepted the invitation returns 400 and keeps the invitation valid', async () => {
      const { body } = await invite(admin, { user_type: 'individual' });
      for (const status of ['active', 'suspended']) {
        const answer = await setStatus(platformAdmin, body.data.user.id, status);
        expect([answer.status, answer.body.message]).toEqual([400, expect.stringMatching(/^status: .*invitation/)]);
      }
      expect((await accept(body.data.token)).status).toBe(200);
    });

    it('A user’s status accepts only active or suspended', async () => {
      expect((await setStatus(platformAdmin, newId(), 'invited')).status).toBe(400);
      expect((await setStatus(platformAdmin, newId(), 'active')).status).toBe(404);
    });
  });
});
