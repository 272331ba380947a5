import { type BuiltUser, buildIndividual, buildOrganization, buildOrganizationAdmin } from '../support/build.ts';
import { untilLocked } from '../support/lock-waits.ts';
import { expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { buildActiveCircle, buildCast, createCircle, eventsOf, readCircle } from './build-circle.ts';

let stack: Stack;
let admin: BuiltUser;
let otherAdmin: BuiltUser;
let employee: BuiltUser;
let owner: BuiltUser;
let stranger: BuiltUser;
let platform: BuiltUser;
beforeAll(async () => {
  stack = await startStack({ worker: true });
  ({ admin, otherAdmin, employee, owner, stranger, platform } = await buildCast(stack));
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const unknown = '6f1e0c5e-6a86-4f0e-a4ad-0a1d5d0b2c11';
const path = '/v1/saving-circles';
const join = (as: BuiltUser, saving_circle_id: string, account_ids?: string[]) =>
  stack.post(`${path}/members`, { saving_circle_id, ...(account_ids && { account_ids }) }, { token: as.token });

describe('POST /v1/saving-circles/members', () => {
  it('Accounts are added to a circle in the given order, all or none, with RESOURCE_UPDATED', async () => {
    const { id } = await createCircle(stack, owner, { capacity: 3 });
    const { status, body } = await join(owner, id, [stranger.accountId, owner.accountId]);
    expect(status).toBe(201);
    expect(body.data.members).toMatchObject([
      { saving_circle_id: id, account_id: stranger.accountId, user_id: stranger.id, turn_number: null },
      { saving_circle_id: id, account_id: owner.accountId, user_id: owner.id, turn_number: null },
    ]);
    expect(await eventsOf(stack, 'RESOURCE_UPDATED', id)).toMatchObject([
      { actor_id: owner.id, data: { members_added: body.data.members.map((member: { id: string }) => member.id) } },
    ]);
    const full = await join(owner, id, [employee.accountId, (await buildIndividual(stack)).accountId]);
    expect({ status: full.status, message: full.body.message }).toMatchObject({
      status: 400,
      message: expect.stringContaining('full'),
    });
    expect((await readCircle(stack, owner, id)).members).toHaveLength(2);
  });

  it('Adding members rejects existing members, even with another account, and duplicates', async () => {
    const { id } = await createCircle(stack, owner);
    await join(owner, id, [owner.accountId]);
    const { body: pocket } = await stack.post('/v1/accounts', { name: 'Second' }, { token: owner.token });
    for (const accounts of [
      [owner.accountId],
      [pocket.data.id],
      [stranger.accountId, stranger.accountId],
      [stranger.accountId, owner.accountId],
    ]) {
      const { status, body } = await join(owner, id, accounts);
      expect({ status, message: body.message }).toMatchObject({
        status: 400,
        message: expect.stringContaining('member already'),
      });
    }
    expect((await join(owner, id)).status).toBe(400);
    expect((await readCircle(stack, owner, id)).members).toHaveLength(1);
  });

  it('People may join a circle by themselves if its visibility allows it', async () => {
    const circle = async (visibility: string) =>
      (await createCircle(stack, admin, { visibility, account_id: admin.accountId })).id;
    const [hidden, inside, open] = [await circle('private'), await circle('organization'), await circle('public')];
    expect((await join(stranger, hidden)).status).toBe(403);
    expect((await join(employee, hidden)).status).toBe(403);
    expect((await join(stranger, inside)).status).toBe(403);
    expect(await join(employee, inside)).toMatchObject({
      status: 201,
      body: { data: { members: [{ account_id: employee.accountId, user_id: employee.id }] } },
    });
    expect((await join(stranger, open)).status).toBe(201);
    expect(await join(admin, open)).toMatchObject({
      status: 201,
      body: { data: { members: [{ account_id: admin.accountId, user_id: admin.id }] } },
    });
    expect((await join(owner, open, [owner.accountId])).status).toBe(403);
    expect((await join(otherAdmin, open, [owner.accountId])).status).toBe(403);
    expect((await join(platform, open, [owner.accountId])).status).toBe(201);
    expect((await join(platform, open)).status).toBe(400);
  });

  it('Adding members returns 404 for unknown circles and accounts and 400 for a started circle', async () => {
    const { id, creator } = await buildActiveCircle(stack, 2);
    expect((await join(creator, id, [stranger.accountId])).status).toBe(400);
    expect(await join(owner, unknown)).toMatchObject({
      status: 404,
      body: { message: expect.stringMatching(/^saving_circle_id: /) },
    });
    const fresh = await createCircle(stack, owner);
    expect((await join(owner, fresh.id, [unknown])).status).toBe(404);
    expect((await join(owner, fresh.id, [])).status).toBe(400);
    expect((await join(owner, fresh.id, [admin.accountId])).status).toBe(400);
    expect((await join(owner, 'not-a-uuid')).status).toBe(400);
  });

  it('Employees are invited only by their organization’s admin and join by themselves', async () => {
    const organizationId = await buildOrganization(stack);
    const head = await buildOrganizationAdmin(stack, { organizationId });
    const [first, second] = [
      await buildIndividual(stack, { organizationId }),
      await buildIndividual(stack, { organizationId }),
    ];
    await stack.em().execute('update users set email_confirmed_at = now() where id = ?', [first.id]);
    const { id } = await createCircle(stack, head);
    type People = { user_ids?: string[]; emails?: string[]; account_ids?: string[] };
    const ask = (as: BuiltUser, people: People) =>
      stack.post(`${path}/members`, { saving_circle_id: id, ...people }, { token: as.token });
    const listed = async (as: BuiltUser) =>
      (await stack.get(path, { token: as.token })).body.saving_circles.map((circle: { id: string }) => circle.id);
    expect([await listed(first), (await join(first, id)).status]).toEqual([[], 403]);
    const no = "is not an active user of the circle's organization";
    const refused: [People, string][] = [
      [{ user_ids: [first.id, stranger.id] }, `user_ids: ${stranger.id} ${no}`],
      [{ emails: [first.email, stranger.email] }, `emails: ${stranger.email} ${no}`],
      [{ emails: [first.email], account_ids: [first.accountId] }, 'emails: cannot be sent with account_ids'],
    ];
    for (const [people, message] of refused) {
      expect((await ask(head, people)).body).toMatchObject({ statusCode: 400, message });
    }
    expect((await ask(first, { user_ids: [second.id] })).status).toBe(403);
    expect((await ask(head, { user_ids: [first.id], emails: [second.email.toUpperCase()] })).status).toBe(201);
    expect((await ask(head, { emails: [first.email] })).body.data).toEqual({ members: [] });
    const told = await stack.em().execute('select user_id, kind from mails where resource_id = ?', [id]);
    expect(told).toEqual([{ user_id: first.id, kind: 'circle_invitation' }]);
    for (const employee of [first, second]) {
      expect(await listed(employee)).toEqual([id]);
      expect((await stack.get(`${path}/${id}`, { token: employee.token })).status).toBe(200);
      expect((await join(employee, id)).status).toBe(201);
    }
    expect((await readCircle(stack, head, id)).members).toHaveLength(2);
  });

  it('A private circle is listed for an organization admin whom its creator invited', async () => {
    const organizationId = await buildOrganization(stack);
    const head = await buildOrganizationAdmin(stack, { organizationId });
    const creator = await buildIndividual(stack, { organizationId });
    const { id } = await createCircle(stack, creator);
    const listed = async () => (await stack.get(path, { token: head.token })).body.saving_circles;
    expect(await listed()).toEqual([]);
    const invitation = { saving_circle_id: id, user_ids: [head.id] };
    expect((await stack.post(`${path}/members`, invitation, { token: creator.token })).status).toBe(201);
    expect(await listed()).toMatchObject([{ id }]);
  });

  it('A suspended user is never added to a circle', async () => {
    const { id } = await createCircle(stack, owner);
    const suspended = await buildIndividual(stack);
    await stack.owner().execute("update users set status = 'suspended' where id = ?", [suspended.id]);
    const { status, body } = await join(owner, id, [stranger.accountId, suspended.accountId]);
    expect([status, body.message]).toEqual([
      400,
      `account_ids: the account ${suspended.accountId} cannot join: its owner cannot be a member`,
    ]);
    expect((await readCircle(stack, owner, id)).members).toEqual([]);
  });

  it('A user who is suspended while their join request waits is rejected', async () => {
    const { id } = await createCircle(stack, owner, { visibility: 'public' });
    const joining = await buildIndividual(stack);
    let joined: ReturnType<typeof join> | undefined;
    await stack.owner().transactional(async (tx) => {
      await tx.execute('select from saving_circles where id = ? for update', [id]);
      joined = join(joining, id);
      await untilLocked(stack);
      await tx.execute("update users set status = 'suspended' where id = ?", [joining.id]);
    });
    expect((await joined)?.status).toBe(403);
    expect((await readCircle(stack, owner, id)).members).toEqual([]);
  });

  it('A circle never exceeds its capacity when many join concurrently', async () => {
    const { id } = await createCircle(stack, owner, { visibility: 'public', capacity: 4 });
    const crowd = await Promise.all(Array.from({ length: 12 }, () => buildIndividual(stack)));
    const answers = await Promise.all(crowd.map((person) => join(person, id)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(4);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(8);
  });
});

describe('DELETE /v1/saving-circles/:id/members/:member_id', () => {
  const leave = (as: BuiltUser, id: string, member: string) =>
    stack.delete(`${path}/${id}/members/${member}`, undefined, { token: as.token });

  it('Only the member, the creator and admins may remove a member, and only from a new circle', async () => {
    const { id } = await createCircle(stack, owner);
    const { body } = await join(owner, id, [stranger.accountId, employee.accountId]);
    const [first, second] = body.data.members.map((member: { id: string }) => member.id);
    expect((await leave(employee, id, first)).status).toBe(403);
    expect((await leave(otherAdmin, id, first)).status).toBe(403);
    expect(await leave(stranger, id, first)).toMatchObject({ status: 200, body: { data: { id: first } } });
    expect((await leave(owner, id, second)).status).toBe(200);
    expect((await leave(owner, id, second)).status).toBe(404);
    expect((await leave(owner, unknown, second)).status).toBe(404);
    expect((await readCircle(stack, owner, id)).members).toEqual([]);

    const active = await buildActiveCircle(stack, 2);
    const [member] = (await readCircle(stack, active.creator, active.id)).members;
    expect((await leave(active.creator, active.id, member.id)).status).toBe(400);
  });
});
