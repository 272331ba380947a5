import { keysUrlBeside } from '../../../dev/postgres.ts';
import { settleKeys } from '../../../src/people/identity/settle-keys.ts';
import { newId } from '../../../src/shared/ids.ts';
import { forgetOldRows } from '../../../src/wiring/forget-old-rows.ts';
import { buildCause } from '../../giving/causes/build-cause.ts';
import {
  type BuiltUser,
  buildOrganizationAdmin,
  buildPlatformAdmin,
  buildRole,
  buildSuperAdmin,
} from '../../support/build.ts';
import { untilLocked } from '../../support/lock-waits.ts';
import { invitationToken } from '../../support/mail.ts';
import { isFullRun } from '../../support/run.ts';
import { type Stack, startStack } from '../../support/stack.ts';
import { withClient } from '../../support/with-client.ts';

const password = 'correct horse battery';
const address = (): string => `${newId()}@example.org`;

describe('Invited users', () => {
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
    const { user } = answer.body.data as { user: { id: string; email: string } };
    return { token: await invitationToken(stack, user.id), user };
  };
  const expire = (userId: string, ago = '1 second') =>
    stack.owner().execute('update invitations set expires_at = now() - ?::interval where user_id = ?', [ago, userId]);
  const show = (userId: string) => stack.get(`/v1/users/${userId}`, { token: superAdmin.token });

  it('The page linked in an invitation’s mail accepts the invitation without logging the browser in', async () => {
    const { token, user } = await invited(admin, { user_type: 'individual' });
    const body = new URLSearchParams({ token, password });
    const { status, headers } = await fetch(`${stack.url}/accept-invitation`, { method: 'POST', body });
    expect([status, headers.get('set-cookie')]).toEqual([200, null]);
    expect((await stack.post('/v1/auth/login', { email: user.email, password })).status).toBe(200);
  });

  it('Organizations can invite one address ten times an hour, revoked and refused invitations included', async () => {
    const own = await buildOrganizationAdmin(stack);
    const stranger = { email: address(), user_type: 'organization' };
    const statuses: number[] = [];
    for (let time = 0; time < 11; time += 1) {
      const { status, body } = await invite(own, stranger);
      statuses.push(status);
      if (status === 201 && time % 2 === 0) await takeBack(own, body.data.id);
    }
    expect(statuses).toEqual([...Array(10).fill(201), 429]);
    expect((await invite(platformAdmin, { ...stranger, organization_id: own.organizationId })).status).toBe(201);
    const asked: number[] = [];
    const { email } = (await show(admin.id)).body.data;
    for (let time = 0; time < 11; time += 1)
      asked.push((await invite(own, { email, user_type: 'organization' })).status);
    expect(asked).toEqual([...Array(10).fill(400), 429]);
  });

  it('Revoking an invitation revokes the token, deletes the user and frees the address', async () => {
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

  it('An invitation cannot be accepted while the inviter is suspended', async () => {
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
    ['revoked', (user: { id: string }) => takeBack(admin, user.id)],
    ['renewed', (user: { email: string }) => invite(admin, { email: user.email, user_type: 'individual' })],
  ])('Invitations that are concurrently %s and accepted', (_, undo) => {
    /** Starts both requests while the invitation is locked, then releases the lock. */
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

    it('Revoking or renewing an invitation returns 400 if it was accepted first', async () => {
      const { token, user } = await invited(admin, { user_type: 'individual' });
      expect(
        await race(
          () => accept(token),
          () => undo(user),
          user.id,
        ),
      ).toEqual([200, 400]);
    });

    it('Accepting an invitation returns 400 if it was revoked or renewed first', async () => {
      const { token, user } = await invited(admin, { user_type: 'individual' });
      const [undone, accepted] = await race(
        () => undo(user),
        () => accept(token),
        user.id,
      );
      expect([Number(undone) < 300, accepted]).toEqual([true, 400]);
    });
  });

  it('An invitation can be revoked by anyone who could send it, until it is accepted', async () => {
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

  it('A super admin’s invitation can be renewed or revoked only by super admins', async () => {
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

  it('Inviting a user again records an event only if it changes the user', async () => {
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

  it('An inviter cannot replace an invited user’s role if they lack its permissions', async () => {
    const ownId = String(admin.organizationId);
    const strong = await buildRole(stack, { organizationId: ownId, permissions: ['manage-product'] });
    const { user } = await invited(platformAdmin, {
      user_type: 'individual',
      organization_id: ownId,
      role_id: strong.id,
    });
    expect((await invite(admin, { email: user.email, user_type: 'individual' })).status).toBe(403);
  });

  it('An expired invitation frees its address for a sign-up or another invitation', async () => {
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

  it('Revoking an invitation also removes the invited user as a cause’s manager', async () => {
    const { user } = await invited(admin, { user_type: 'individual' });
    const causeId = await buildCause(stack, admin);
    const path = `/v1/charitable-causes/${causeId}/assign-manager`;
    expect((await stack.post(path, { user_id: user.id }, { token: admin.token })).status).toBe(200);
    expect((await takeBack(admin, user.id)).status).toBe(200);
    const { body } = await stack.get(`/v1/charitable-causes/${causeId}`, { token: admin.token });
    expect(body.charitable_cause.managers).toEqual([]);
  });

  describe('Users with expired invitations', () => {
    /** The tables that contain this text, in any column. */
    async function holdersOf(text: string): Promise<string[]> {
      const tables = await stack
        .owner()
        .execute<{ name: string }[]>(
          "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')",
        );
      const held = tables.map(async ({ name }) => {
        const found = await stack
          .owner()
          .execute<unknown[]>(`select 1 from ${name} t where strpos(t::text, ?) > 0 limit 1`, [text]);
        return found.length > 0 ? [name] : [];
      });
      return (await Promise.all(held)).flat();
    }

    const keysOf = (id: string, sql: string) =>
      withClient(keysUrlBeside(stack.databaseUrls.owner), async (client) => (await client.query(sql, [id])).rows);

    it('A user whose invitation expired over 30 days ago is deleted, and can be invited again', async () => {
      const { user } = await invited(superAdmin, { user_type: 'individual', name: 'Long Ago' });
      const causeId = await buildCause(stack, admin);
      const path = `/v1/charitable-causes/${causeId}/assign-manager`;
      expect((await stack.post(path, { user_id: user.id }, { token: admin.token })).status).toBe(200);
      const [row] = await stack
        .em()
        .execute<[{ profile_sealed: string; email_digest: string }]>(
          'select profile_sealed, email_digest from users where id = ?',
          [user.id],
        );
      expect(await holdersOf(row.profile_sealed)).toEqual(['users']);
      expect((await show(user.id)).body.data.name).toBe('Long Ago');
      await expire(user.id, '31 days');
      expect(await forgetOldRows(stack.em())).toBe(1);
      expect((await show(user.id)).status).toBe(404);
      for (const text of [row.profile_sealed, row.email_digest, user.email, 'Long Ago']) {
        expect(await holdersOf(text)).toEqual([]);
      }
      expect(await holdersOf(user.id)).toEqual(['events']);
      const events = await stack
        .em()
        .execute(
          "select impact, actor_id, request_id, data from events where event = 'RESOURCE_DELETED' and resource_id = ?",
          [user.id],
        );
      expect(events).toEqual([{ impact: 'HIGH', actor_id: null, request_id: null, data: { invitation: 'expired' } }]);
      await keysOf(user.id, "update personal_keys set look_after = now() - interval '1 hour' where id = $1");
      await settleKeys(stack.em(), stack.deps.personalKeys);
      expect(await keysOf(user.id, 'select from personal_keys where id = $1')).toEqual([]);

      const again = await invited(admin, { email: user.email, user_type: 'organization' });
      expect(again.user.id).not.toBe(user.id);
      expect((await accept(again.token)).status).toBe(200);
    });

    it('A user whose invitation expired less than 30 days ago, or is open, is kept', async () => {
      const open = await invited(admin, { user_type: 'individual' });
      const recent = await invited(admin, { user_type: 'individual' });
      await expire(recent.user.id, '29 days 23 hours');
      expect(await forgetOldRows(stack.em())).toBe(0);
      expect([(await show(open.user.id)).status, (await show(recent.user.id)).status]).toEqual([200, 200]);
      expect((await accept(open.token)).status).toBe(200);
    });

    it('A user who accepted the invitation in time, or received a new one, is kept', async () => {
      const accepted = await invited(admin, { user_type: 'individual' });
      expect((await accept(accepted.token)).status).toBe(200);
      await expire(accepted.user.id, '400 days');
      const { user } = await invited(admin, { user_type: 'individual' });
      const anew = await invited(admin, { email: user.email, user_type: 'individual' });
      expect(anew.user.id).toBe(user.id);
      expect(await forgetOldRows(stack.em())).toBe(0);
      expect((await show(accepted.user.id)).body.data).toMatchObject({ name: 'Invited', status: 'active' });
      expect((await accept(anew.token)).status).toBe(200);
    });

    it('A legal hold keeps a user whose invitation expired long ago, without blocking other deletions', async () => {
      const [held, beside] = [
        (await invited(admin, { user_type: 'individual' })).user,
        (await invited(admin, { user_type: 'individual' })).user,
      ];
      await stack
        .owner()
        .execute('insert into legal_holds (id, user_id, note, placed_by) values (?, ?, ?, ?)', [
          newId(),
          held.id,
          'by hand',
          superAdmin.id,
        ]);
      for (const { id } of [held, beside]) await expire(id, '400 days');
      expect(await forgetOldRows(stack.em())).toBe(1);
      expect([(await show(held.id)).status, (await show(beside.id)).status]).toEqual([200, 404]);
    });

    describe('Invitations accepted during the sweep', () => {
      const inviteMany = (count: number) =>
        Promise.all(Array.from({ length: count }, () => invited(admin, { user_type: 'individual' })));
      const accountsOf = async (userId: string) =>
        (await stack.owner().execute('select 1 from accounts where user_id = ?', [userId])).length;

      /** Expects a complete person with a name, an account and a login, or no person at all. */
      async function expectWholeOrNobody(user: { id: string; email: string }, status: number) {
        const shown = await show(user.id);
        const login = await stack.post('/v1/auth/login', { email: user.email, password });
        expect([user.id, status, shown.status, await accountsOf(user.id), login.status]).toEqual(
          status === 200 ? [user.id, 200, 200, 1, 200] : [user.id, 400, 404, 0, 401],
        );
        if (status === 200) expect(shown.body.data).toMatchObject({ name: 'Invited', status: 'active' });
      }

      it('An invitation accepted before the sweep leaves a complete user', async () => {
        const people = await inviteMany(3);
        const ids = people.map(({ user }) => user.id);
        let accepting: ReturnType<typeof accept>[] = [];
        await stack.owner().transactional(async (tx) => {
          for (const id of ids) {
            await tx.execute("update invitations set expires_at = now() - interval '400 days' where user_id = ?", [id]);
          }
          accepting = people.map(({ token }) => accept(token));
          await untilLocked(stack, { count: 3, text: 'update invitations set accepted_at' });
        });
        await forgetOldRows(stack.em());
        for (const [at, { user }] of people.entries()) {
          const answer = await accepting[at];
          expect(answer?.status).toBe(200);
          await expectWholeOrNobody(user, 200);
        }
      });

      it('An invitation accepted during the sweep leaves a complete user or none', async () => {
        const people = await inviteMany(isFullRun() ? 20 : 5);
        const accepting = people.map(({ token }) => accept(token));
        for (const { user } of people.toReversed()) {
          await expire(user.id, '400 days');
          await forgetOldRows(stack.em());
        }
        const statuses = (await Promise.all(accepting)).map(({ status }) => status);
        for (const [at, { user }] of people.entries()) await expectWholeOrNobody(user, statuses[at] ?? 0);
      });
    });
  });
});
