import { newId } from '../../../src/shared/ids.ts';
import { asAClient } from '../../support/as-a-client.ts';
import {
  type BuiltUser,
  buildIndividual,
  buildOrganizationAdmin,
  buildPlatformAdmin,
  buildRole,
  buildSuperAdmin,
} from '../../support/build.ts';
import { itInFull } from '../../support/full.ts';
import { isFullRun } from '../../support/run.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

const pairs = isFullRun() ? 200 : 20;

const individualUser = '00000000-0000-4000-8000-000000000104';
const platformAdminRole = '00000000-0000-4000-8000-000000000102';
const superAdminRole = '00000000-0000-4000-8000-000000000101';

describe('PATCH /v1/acl/assign-role', () => {
  let stack: Stack;
  let superAdmin: BuiltUser;
  let platformAdmin: BuiltUser;
  let admin: BuiltUser;
  let colleague: BuiltUser;
  let ownId: string;
  beforeAll(async () => {
    stack = await startStack({ own: true });
    superAdmin = await buildSuperAdmin(stack);
    platformAdmin = await buildPlatformAdmin(stack);
    admin = await buildOrganizationAdmin(stack);
    ownId = String(admin.organizationId);
    colleague = await buildIndividual(stack, { organizationId: ownId });
  });
  afterAll(async () => {
    await expectChecksEmpty(stack);
    await stack?.stop();
  });

  const assign = (by: BuiltUser, body: object) => stack.patch('/v1/acl/assign-role', body, { token: by.token });
  const roleOf = async (id: string) =>
    (await stack.get(`/v1/users/${id}`, { token: superAdmin.token })).body.data.role_id as string | null;

  it('A custom role can be assigned to an individual of its organization, and the role is returned', async () => {
    const role = await buildRole(stack, { organizationId: ownId, permissions: ['read-role'] });
    const { status, body } = await assign(admin, { user_id: colleague.id, role_id: role.id });
    expect(status).toBe(200);
    expect(Object.keys(body).sort()).toEqual(['message', 'role']);
    expect(body.role).toMatchObject({ id: role.id, name: role.name });
    expect(await roleOf(colleague.id)).toBe(role.id);
  });

  it('Assigning a role records RESOURCE_UPDATED for the user', async () => {
    await assign(admin, { user_id: colleague.id, role_id: individualUser });
    const { body } = await stack.get(`/v1/events?resource_id=${colleague.id}`, { token: superAdmin.token });
    expect(body.data.items[0]).toMatchObject({
      event: 'RESOURCE_UPDATED',
      impact: 'MEDIUM',
      resource_type: 'user',
      actor_id: admin.id,
      data: { role_id: individualUser },
    });
  });

  it('Unassigning a role with unassign_role true ignores role_id and returns the removed role', async () => {
    const role = await buildRole(stack, { organizationId: ownId, permissions: ['read-role'] });
    const user = await buildIndividual(stack, { organizationId: ownId, role: role.name });
    const { status, body } = await assign(admin, { user_id: user.id, role_id: newId(), unassign_role: true });
    expect([status, body.role.id]).toEqual([200, role.id]);
    expect(await roleOf(user.id)).toBeNull();
    expect((await stack.get('/v1/accounts', { token: user.token })).status).toBe(403);
    const again = await assign(admin, { user_id: user.id, unassign_role: true });
    expect([again.status, again.body.role]).toEqual([200, null]);
  });

  it('Assigning and unassigning need assign-role or unassign-role; either suffices for both', async () => {
    for (const permission of ['assign-role', 'unassign-role']) {
      const role = await buildRole(stack, { organizationId: ownId, permissions: [permission] });
      const granted = await buildRole(stack, { organizationId: ownId, permissions: [permission] });
      const clerk = await buildOrganizationAdmin(stack, { organizationId: ownId, role: role.name });
      const user = await buildIndividual(stack, { organizationId: ownId, role: null });
      expect((await assign(clerk, { user_id: user.id, role_id: granted.id })).status).toBe(200);
      expect((await assign(clerk, { user_id: user.id, unassign_role: true })).status).toBe(200);
    }
    const role = await buildRole(stack, { organizationId: ownId, permissions: ['read-role'] });
    const clerk = await buildOrganizationAdmin(stack, { organizationId: ownId, role: role.name });
    expect((await assign(clerk, { user_id: colleague.id, role_id: role.id })).status).toBe(403);
  });

  it.each([
    ['no user_id', { role_id: individualUser }, 'user_id: is required'],
    ['no user_id when unassigning', { unassign_role: true }, 'user_id: is required'],
    ['no role_id', { user_id: newId() }, 'role_id: is required'],
    ['no role_id with unassign_role false', { user_id: newId(), unassign_role: false }, 'role_id: is required'],
    ['an empty body', {}, 'user_id: is required'],
    ['a malformed user_id', { user_id: '7', role_id: individualUser }, 'user_id: must be a UUID'],
    ['unassign_role as a text', { user_id: newId(), unassign_role: 'true' }, /^unassign_role: /],
    ['an unknown field', { user_id: newId(), role: 'x' }, 'role: unknown field'],
  ])('Assigning a role with %s returns 400', async (_, body, message) => {
    const answer = await assign(admin, body);
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringMatching(message)]);
  });

  it('Assigning a role returns 404 for a missing user, and for a missing or deleted role', async () => {
    expect((await assign(admin, { user_id: newId(), role_id: individualUser })).status).toBe(404);
    expect((await assign(admin, { user_id: newId(), unassign_role: true })).status).toBe(404);
    expect((await assign(admin, { user_id: colleague.id, role_id: newId() })).status).toBe(404);
    const role = await buildRole(stack, { organizationId: ownId });
    await stack.delete(`/v1/acl/roles/${role.id}`, undefined, { token: admin.token });
    expect((await assign(admin, { user_id: colleague.id, role_id: role.id })).status).toBe(404);
  });

  it('Assigning another organization’s role, or a role to another organization’s user, returns 403', async () => {
    const foreignRole = await buildRole(stack);
    const stranger = await buildIndividual(stack, { organizationId: foreignRole.organizationId });
    const independent = await buildIndividual(stack);
    expect((await assign(admin, { user_id: colleague.id, role_id: foreignRole.id })).status).toBe(403);
    for (const user of [stranger, independent]) {
      expect((await assign(admin, { user_id: user.id, role_id: individualUser })).status).toBe(403);
      expect((await assign(admin, { user_id: user.id, unassign_role: true })).status).toBe(403);
    }
    expect((await assign(platformAdmin, { user_id: colleague.id, role_id: foreignRole.id })).status).toBe(403);
    expect((await assign(platformAdmin, { user_id: independent.id, role_id: foreignRole.id })).status).toBe(403);
    expect((await assign(platformAdmin, { user_id: stranger.id, role_id: foreignRole.id })).status).toBe(200);
  });

  it('Assigning a role with permissions that the caller does not hold returns 403', async () => {
    const strong = await buildRole(stack, { organizationId: ownId, permissions: ['manage-product'] });
    expect((await assign(admin, { user_id: colleague.id, role_id: strong.id })).status).toBe(403);
    expect((await assign(admin, { user_id: colleague.id, role_id: platformAdminRole })).status).toBe(403);
    expect((await assign(platformAdmin, { user_id: colleague.id, role_id: strong.id })).status).toBe(200);
    expect((await assign(platformAdmin, { user_id: platformAdmin.id, role_id: superAdminRole })).status).toBe(403);
  });

  it('Platform users can be assigned custom roles, but other users cannot be assigned platform roles', async () => {
    const role = await buildRole(stack, { permissions: ['read-role'] });
    const user = await buildPlatformAdmin(stack);
    expect((await assign(platformAdmin, { user_id: user.id, role_id: role.id })).status).toBe(200);
    expect((await stack.get('/v1/acl/roles', { token: user.token })).status).toBe(200);
    expect((await assign(superAdmin, { user_id: colleague.id, role_id: superAdminRole })).status).toBe(400);
  });

  it('Only a super admin may change a super admin’s role', async () => {
    const other = await buildSuperAdmin(stack);
    expect((await assign(platformAdmin, { user_id: other.id, role_id: platformAdminRole })).status).toBe(403);
    expect((await assign(platformAdmin, { user_id: other.id, unassign_role: true })).status).toBe(403);
    expect((await assign(superAdmin, { user_id: other.id, role_id: platformAdminRole })).status).toBe(200);
  });

  it('The last active super admin keeps the role, even if two unassign each other concurrently', async () => {
    const other = await buildSuperAdmin(stack);
    const suspended = await buildSuperAdmin(stack);
    await stack.patch(`/v1/users/${suspended.id}`, { status: 'suspended' }, { token: superAdmin.token });
    const answers = await Promise.all([
      assign(superAdmin, { user_id: other.id, unassign_role: true }),
      assign(other, { user_id: superAdmin.id, role_id: platformAdminRole }),
    ]);
    // The later caller is refused as the last holder, or has lost the permission.
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const left = answers[0].status === 200 ? superAdmin : other;
    for (const body of [{ unassign_role: true }, { role_id: platformAdminRole }]) {
      const alone = await assign(left, { user_id: left.id, ...body });
      expect([alone.status, alone.body.message]).toEqual([400, 'user_id: this is the last super admin']);
    }
    expect((await assign(left, { user_id: left.id, role_id: superAdminRole })).status).toBe(200);
    const gone = left === superAdmin ? other : superAdmin;
    expect((await assign(left, { user_id: gone.id, role_id: superAdminRole })).status).toBe(200);
  });

  it('Organization users cannot invite platform users or change their roles, even with every permission', async () => {
    const { body: all } = await stack.get('/v1/acl/permissions?limit=100', { token: superAdmin.token });
    const permissions = all.permissions.map(({ name }: { name: string }) => name);
    const everything = await buildRole(stack, { organizationId: ownId, permissions });
    const strong = await buildOrganizationAdmin(stack, { organizationId: ownId, role: everything.name });
    const invited = await stack.post(
      '/v1/users/invitations',
      { email: `${newId()}@example.org`, name: 'Spy', user_type: 'platform', role_id: everything.id },
      { token: strong.token },
    );
    expect([invited.status, invited.body.message]).toEqual([
      403,
      'user_type: only platform users can invite users of type platform',
    ]);
    const individual = await buildIndividual(stack, { organizationId: ownId, role: everything.name });
    const target = await buildPlatformAdmin(stack);
    for (const caller of [strong, individual]) {
      expect((await assign(caller, { user_id: target.id, role_id: everything.id })).status).toBe(403);
      expect((await assign(caller, { user_id: target.id, unassign_role: true })).status).toBe(403);
    }
  });

  it('An organization cannot change the permissions of its role while a platform user holds it', async () => {
    const role = await buildRole(stack, { organizationId: ownId, permissions: ['read-role'] });
    const { body: invited } = await stack.post(
      '/v1/users/invitations',
      { email: `${newId()}@example.org`, name: 'Support', user_type: 'platform', role_id: role.id },
      { token: superAdmin.token },
    );
    expect(invited.data.user.role_id).toBe(role.id);
    const path = `/v1/acl/roles/${role.id}`;
    const { token } = admin;
    const answers = [
      await stack.patch(path, { permissions: ['read-role', 'read-account'] }, { token }),
      await stack.patch(path, { permissions: [] }, { token }),
      await stack.delete(`${path}/permissions`, { permissions: ['read-role'] }, { token }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
    const held = await stack.get(`${path}/permissions`, { token });
    expect(held.body.permissions.map(({ name }: { name: string }) => name)).toEqual(['read-role']);
    expect((await stack.patch(path, { description: 'Helps', permissions: ['read-role'] }, { token })).status).toBe(200);
    const byPlatform = await stack.patch(path, { permissions: ['read-account'] }, { token: superAdmin.token });
    expect(byPlatform.status).toBe(200);
  });

  it('A role with permissions that the caller lacks can be neither unassigned nor replaced', async () => {
    const held = await buildRole(stack, { organizationId: ownId, permissions: ['read-role', 'manage-product'] });
    const weak = await buildRole(stack, { organizationId: ownId, permissions: ['read-role'] });
    const user = await buildIndividual(stack, { organizationId: ownId, role: held.name });
    for (const body of [{ unassign_role: true }, { role_id: weak.id }]) {
      const { status, body: answer } = await assign(admin, { user_id: user.id, ...body });
      expect([status, answer.message]).toEqual([
        403,
        'The user holds a role with permissions that the caller does not hold: manage-product',
      ]);
      expect(await roleOf(user.id)).toBe(held.id);
    }
    // Assigning the role that the user already has removes nothing.
    const own = await buildRole(stack, { organizationId: ownId, permissions: ['read-role'] });
    const holder = await buildIndividual(stack, { organizationId: ownId, role: own.name });
    expect((await assign(admin, { user_id: holder.id, role_id: own.id })).status).toBe(200);
    expect((await assign(platformAdmin, { user_id: user.id, unassign_role: true })).status).toBe(200);
  });

  describe('The last holder of assign-role in an organization', () => {
    const refusal = 'the organization would be left without a holder of assign-role';

    it('The last holder of assign-role cannot lose the role, whoever unassigns or replaces it', async () => {
      const last = await buildOrganizationAdmin(stack);
      const organizationId = String(last.organizationId);
      const weak = await buildRole(stack, { organizationId, permissions: ['read-role'] });
      // An individual, who cannot use the routes, and a suspended user do not count as holders.
      const named = await buildRole(stack, { organizationId, permissions: ['assign-role'] });
      await buildIndividual(stack, { organizationId, role: named.name });
      const gone = await buildOrganizationAdmin(stack, { organizationId });
      await stack.patch(`/v1/users/${gone.id}`, { status: 'suspended' }, { token: superAdmin.token });
      for (const caller of [last, superAdmin]) {
        for (const body of [{ unassign_role: true }, { role_id: weak.id }]) {
          const { status, body: answer } = await assign(caller, { user_id: last.id, ...body });
          expect([status, answer.message]).toEqual([400, `user_id: ${refusal}`]);
        }
      }
      const second = await buildOrganizationAdmin(stack, { organizationId });
      expect((await assign(second, { user_id: last.id, role_id: weak.id })).status).toBe(200);
    });

    it('assign-role cannot be removed from the role of its last holder', async () => {
      const organization = await buildRole(stack, { permissions: ['assign-role', 'update-role', 'delete-permission'] });
      const { organizationId, name, id } = organization;
      const last = await buildOrganizationAdmin(stack, { organizationId, role: name });
      const replace = await stack.patch(`/v1/acl/roles/${id}`, { permissions: ['update-role'] }, { token: last.token });
      const body = { permissions: ['assign-role'] };
      const detach = await stack.delete(`/v1/acl/roles/${id}/permissions`, body, { token: last.token });
      for (const answer of [replace, detach]) {
        expect([answer.status, answer.body.message]).toEqual([400, `permissions: ${refusal}`]);
      }
      await buildOrganizationAdmin(stack, { organizationId });
      const later = await stack.delete(`/v1/acl/roles/${id}/permissions`, body, { token: last.token });
      expect(later.status).toBe(200);
    });

    it('One holder of assign-role remains if two remove each other’s role concurrently', async () => {
      const one = await buildOrganizationAdmin(stack);
      const two = await buildOrganizationAdmin(stack, { organizationId: one.organizationId });
      const answers = await Promise.all([
        assign(one, { user_id: two.id, unassign_role: true }),
        assign(two, { user_id: one.id, unassign_role: true }),
      ]);
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    });
  });

  it('A route closed to a user type returns 403 whatever permissions the role has', async () => {
    const role = await buildRole(stack, { organizationId: ownId, permissions: ['read-role', 'read-event'] });
    const user = await buildIndividual(stack, { organizationId: ownId, role: role.name });
    expect((await stack.get('/v1/acl/roles', { token: user.token })).status).toBe(403);
    expect((await stack.get('/v1/events', { token: user.token })).status).toBe(403);
  });

  itInFull(
    `${pairs} pairs of admins who concurrently assign, change and delete the same role leave a consistent state`,
    async () => {
      const two = await Promise.all([admin, buildOrganizationAdmin(stack, { organizationId: ownId })]);
      const sets = [
        ['read-role', 'read-user'],
        ['create-account', 'read-account', 'read-transaction'],
      ];
      const unexpected: unknown[] = [];
      let deleted = 0;
      let assigned = 0;
      async function pair(deletesFirst: boolean): Promise<void> {
        const role = await buildRole(stack, {
          name: `pair-${newId()}`,
          organizationId: ownId,
          permissions: sets[0] ?? [],
        });
        const user = await buildIndividual(stack, { organizationId: ownId });
        const calls = [
          () => assign(two[0], { user_id: user.id, role_id: role.id }),
          () => stack.delete(`/v1/acl/roles/${role.id}`, undefined, { token: two[1].token }),
          () => stack.patch(`/v1/acl/roles/${role.id}`, { permissions: sets[1] }, { token: two[0].token }),
          () => stack.patch(`/v1/acl/roles/${role.id}`, { permissions: sets[0] }, { token: two[1].token }),
        ];
        const begun = (deletesFirst ? calls.toReversed() : calls).map(asAClient);
        const [given, removed, ...changed] = await Promise.all(deletesFirst ? begun.toReversed() : begun);
        if (given?.status === 200) assigned += 1;
        if (removed?.status === 200) deleted += 1;
        const answers = [given, removed, ...changed].map((answer) => answer?.status ?? 0);
        if (answers.some((status) => ![200, 400, 404].includes(status))) unexpected.push(answers);
        if (given?.status === 200 && removed?.status === 200) unexpected.push('assigned and deleted');
      }
      // Repeats until assigning and deleting have each won once; the winner is random.
      for (let batch = 0; batch < pairs / 10 || (batch < 20 && Math.min(deleted, assigned) === 0); batch += 1) {
        await Promise.all(Array.from({ length: 10 }, (_, index) => pair(index % 2 === 1)));
      }
      expect(unexpected).toEqual([]);
      expect(deleted).toBeGreaterThan(0);
      expect(assigned).toBeGreaterThan(0);
      const broken = await stack
        .em()
        .execute(`select u.id from users u join roles r on r.id = u.role_id where r.deleted_at is not null`);
      expect(broken).toEqual([]);
      const held = await stack.em().execute<{ names: string }[]>(
        `select distinct string_agg(p.name, ',' order by p.name) as names
       from roles r join role_permissions rp on rp.role_id = r.id join permissions p on p.id = rp.permission_id
       where r.name like 'pair-%' and r.organization_id = ? group by r.id
       having string_agg(p.name, ',' order by p.name) not in (?, ?) and count(*) > 1`,
        [ownId, sets[0]?.join(',') ?? '', sets[1]?.join(',') ?? ''],
      );
      expect(held).toEqual([]);
    },
    60_000,
  );
});
