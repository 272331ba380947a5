import { newId } from '../../../src/shared/ids.ts';
import { type BuiltUser, buildIndividual, buildOrganization, buildOrganizationAdmin } from '../../support/build.ts';
import { type Stack, startStack } from '../../support/stack.ts';

describe('A role with permissions that the caller does not hold', () => {
  let stack: Stack;
  let junior: BuiltUser;
  let senior: BuiltUser;
  let great: string;
  beforeAll(async () => {
    stack = await startStack();
    const organizationId = await buildOrganization(stack);
    const admin = await buildOrganizationAdmin(stack, { organizationId });
    const make = async (permissions: string[]): Promise<string> => {
      const role = { name: `role-${newId()}`, description: 'A role', organization_id: organizationId, permissions };
      return (await stack.post('/v1/acl/roles', role, { token: admin.token })).body.id;
    };
    const give = (user_id: string, role_id: string) =>
      stack.patch('/v1/acl/assign-role', { user_id, role_id }, { token: admin.token });
    const small = await make(['update-role', 'read-role', 'delete-permission', 'unassign-role']);
    great = await make(['read-user', 'update-role', 'create-role']);
    junior = await buildOrganizationAdmin(stack, { organizationId, role: null });
    senior = await buildIndividual(stack, { organizationId, role: null });
    expect([(await give(junior.id, small)).status, (await give(senior.id, great)).status]).toEqual([200, 200]);
  });
  afterAll(() => stack.stop());

  const left = async () => (await stack.get('/v1/auth/me', { token: senior.token })).body.data.permissions;

  it('A caller without a role’s permissions can neither unassign it nor remove those permissions', async () => {
    const { token } = junior;
    const taken = await stack.patch('/v1/acl/assign-role', { user_id: senior.id, unassign_role: true }, { token });
    const emptied = await stack.patch(`/v1/acl/roles/${great}`, { permissions: [] }, { token });
    const thinned = await stack.delete(`/v1/acl/roles/${great}/permissions`, { permissions: ['read-user'] }, { token });
    expect([taken.status, emptied.status, thinned.status]).toEqual([403, 403, 403]);
    expect(emptied.body.message).toContain('create-role, read-user');
    expect(await left()).toEqual(['create-role', 'read-user', 'update-role']);
  });

  it('A caller can remove from a role the permissions that they hold themselves', async () => {
    const permissions = ['create-role', 'read-user'];
    const changed = await stack.delete(
      `/v1/acl/roles/${great}/permissions`,
      { permissions: ['update-role'] },
      { token: junior.token },
    );
    expect([changed.status, await left()]).toEqual([200, permissions]);
  });
});
