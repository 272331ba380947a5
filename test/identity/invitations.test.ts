import { newId } from '../../src/shared/ids.ts';
import { buildCause } from '../causes/build-cause.ts';
import {
  type BuiltUser,
  buildOrganizationAdmin,
  buildPlatformAdmin,
  buildRole,
  buildSuperAdmin,
} from '../support/build.ts';
import { untilLocked } from '../support/lock-waits.ts';
import { type Stack, startStack } from '../support/stack.ts';

const password = 'correct horse battery';
const address = (): string => `${newId()}@example.org`;

describe('Users who were only invited', () => {
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

  const invite = (by: BuiltUser, body: object) =>
    stack.post('/v1/users/invitations', { email: address(), name: 'Invited', ...body }, { token: by.token });
  const accept = (token: string, secret = password) =>
    stack.post('/v1/auth/invitations/accept', { token, password: secret });

  const takeBack = (by: BuiltUser, id: string) =>
    stack.delete(`/v1/users/invitations/${id}`, undefined, { token: by.token });
  const invited = async (by: BuiltUser, body: object) => {
    const answer = await invite(by, body);
    expect(answer.status).toBe(201);
    return answer.body.data as { token: string; user: { id: string; email: string } };
  };
  const expire = (userId: string) =>
    stack
      .owner()
      .execute("update invitations set expires_at = now() - interval '1 second' where user_id = ?", [userId]);

  it('can be taken back: the token is void, the user gone, the address free', async () => {
    const { token, user } = await invited(admin, { user_type: 'individual' });
    expect((await takeBack(admin, user.id)).status).toBe(200);
    expect((await accept(token)).status).toBe(400);
    expect((await stack.get(`/v1/users/${user.id}`, { token: superAdmin.token })).status).toBe(404);
    expect((await takeBack(admin, user.id)).status).toBe(404);
    const { status } = await stack.post('/v1/auth/signup', { name: 'Free', email: user.email, password });
    expect(status).toBe(201);
    const events = await stack
      .em()
      .execute("select impact, actor_id, data from events where event = 'RESOURCE_DELETED' and resource_id = ?", [
        user.id,
      ]);
    expect(events).toEqual([{ impact: 'HIGH', actor_id: admin.id, data: { invitation: 'taken back' } }]);
  });

  it('cannot accept while the person who invited them is suspended', async () => {
    const host = await buildOrganizationAdmin(stack);
    const { token } = await invited(host, { user_type: 'individual' });
    const setStatus = (status: string) =>
      stack.patch(`/v1/users/${host.id}`, { status }, { token: platformAdmin.token });
    expect((await setStatus('suspended')).status).toBe(200);
    const refused = await accept(token);
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('token: the invitation')]);
    expect((await setStatus('active')).status).toBe(200);
    expect((await accept(token)).status).toBe(200);
  });

  describe.each([
    ['taken back', (user: { id: string }) => takeBack(admin, user.id)],
    ['invited anew', (user: { email: string }) => invite(admin, { email: user.email, user_type: 'individual' })],
  ])('when they are %s and accept at the same time', (_, undo) => {
    /** Does both, each as far as it gets while the invitation is locked, then lets them go. */
    async function race(
      first: () => ReturnType<typeof accept>,
      second: () => ReturnType<typeof accept>,
      userId: string,
    ) {
      const holder = stack.em();
      await holder.begin();
      await holder.execute('select from invitations where user_id = ? for update', [userId]);
      const begun = [first()];
      await untilLocked(stack);
      begun.push(second());
      await untilLocked(stack, { count: 2 });
      await holder.rollback();
      return (await Promise.all(begun)).map(({ status }) => status);
    }

    it('become users if they come first, and the other request is a 400', async () => {
      const { token, user } = await invited(admin, { user_type: 'individual' });
      expect(
        await race(
          () => accept(token),
          () => undo(user),
          user.id,
        ),
      ).toEqual([200, 400]);
    });

    it('are refused if the other request comes first: the token is void', async () => {
      const { token, user } = await invited(admin, { user_type: 'individual' });
      const [undone, accepted] = await race(
        () => undo(user),
        () => accept(token),
        user.id,
      );
      expect([Number(undone) < 300, accepted]).toEqual([true, 400]);
    });
  });

  it('can be taken back by anybody who may invite that type there, until they have accepted', async () => {
    const { token, user } = await invited(admin, { user_type: 'organization' });
    const ownId = String(admin.organizationId);
    const role = await buildRole(stack, { organizationId: ownId, permissions: ['invite-individual-user'] });
    const clerk = await buildOrganizationAdmin(stack, { organizationId: ownId, role: role.name });
    const refused = await takeBack(clerk, user.id);
    expect([refused.status, refused.body.message]).toEqual([403, 'The permission invite-organization-admin is needed']);
    expect((await takeBack(await buildOrganizationAdmin(stack), user.id)).status).toBe(403);
    const ofPlatform = await invited(platformAdmin, { user_type: 'platform' });
    expect((await takeBack(admin, ofPlatform.user.id)).status).toBe(403);
    expect((await takeBack(platformAdmin, ofPlatform.user.id)).status).toBe(200);
    expect((await accept(token)).status).toBe(200);
    const late = await takeBack(admin, user.id);
    expect([late.status, late.body.message]).toEqual([400, 'user_id: the user is active, not invited']);
  });

  it('of a super admin are never invited anew or taken back by anybody else', async () => {
    const organization_id = String(admin.organizationId);
    const { token, user } = await invited(superAdmin, { user_type: 'individual', organization_id });
    const again = { email: user.email, user_type: 'individual' };
    for (const by of [admin, platformAdmin]) {
      const anew = await invite(by, { ...again, organization_id });
      expect([anew.status, (await takeBack(by, user.id)).status]).toEqual([403, 403]);
    }
    const other = await buildSuperAdmin(stack);
    const renewed = await invited(other, { ...again, organization_id });
    expect((await accept(token)).status).toBe(400);
    expect((await takeBack(superAdmin, renewed.user.id)).status).toBe(200);
    expect((await invite(admin, again)).status).toBe(201);
  });

  it('are never changed by a new invitation without an event that says what', async () => {
    const { user } = await invited(admin, { user_type: 'individual' });
    const again = { email: user.email, user_type: 'individual' };
    const told = () =>
      stack
        .em()
        .execute("select actor_id, data from events where event = 'RESOURCE_UPDATED' and resource_id = ?", [user.id]);
    expect((await invite(admin, again)).status).toBe(201);
    expect(await told()).toEqual([]);
    expect((await invite(admin, { ...again, name: 'Renamed' })).status).toBe(201);
    expect(await told()).toEqual([{ actor_id: admin.id, data: { changed: ['name'] } }]);
  });

  it('never lose a role to a new invitation by somebody who does not hold its permissions', async () => {
    const ownId = String(admin.organizationId);
    const strong = await buildRole(stack, { organizationId: ownId, permissions: ['manage-product'] });
    const { user } = await invited(platformAdmin, {
      user_type: 'individual',
      organization_id: ownId,
      role_id: strong.id,
    });
    expect((await invite(admin, { email: user.email, user_type: 'individual' })).status).toBe(403);
  });

  it('free their address when they expire: for signing up, and for anybody who invites', async () => {
    const first = await invited(superAdmin, { user_type: 'individual' });
    const taken = { name: 'Somebody', email: first.user.email.toUpperCase(), password };
    expect((await stack.post('/v1/auth/signup', taken)).status).toBe(400);
    await expire(first.user.id);
    expect((await stack.post('/v1/auth/signup', taken)).status).toBe(201);
    const second = await invited(superAdmin, { user_type: 'individual', organization_id: admin.organizationId });
    await expire(second.user.id);
    const third = await invited(admin, { email: second.user.email, user_type: 'organization' });
    expect(third.user.id).not.toBe(second.user.id);
    expect((await accept(third.token)).status).toBe(200);
    await expire(third.user.id);
    expect((await stack.post('/v1/auth/signup', { ...taken, email: third.user.email })).status).toBe(400);
  });

  it('are removed with what names them, such as being a manager of a cause', async () => {
    const { user } = await invited(admin, { user_type: 'individual' });
    const causeId = await buildCause(stack, admin);
    const path = `/v1/charitable-causes/${causeId}/assign-manager`;
    expect((await stack.post(path, { user_id: user.id }, { token: admin.token })).status).toBe(200);
    expect((await takeBack(admin, user.id)).status).toBe(200);
    const { body } = await stack.get(`/v1/charitable-causes/${causeId}`, { token: admin.token });
    expect(body.charitable_cause.managers).toEqual([]);
  });
});
