import { newId } from '../../../src/shared/ids.ts';
import {
  type BuiltUser,
  buildIndividual,
  buildOrganizationAdmin,
  buildPlatformAdmin,
  buildSuperAdmin,
} from '../../support/build.ts';
import { untilLocked } from '../../support/lock-waits.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { buildCause, causeBody } from './build-cause.ts';

let stack: Stack;
let creator: BuiltUser;
let stranger: BuiltUser;
let admin: BuiltUser;
let otherAdmin: BuiltUser;
let platform: BuiltUser;
let superAdmin: BuiltUser;
beforeAll(async () => {
  stack = await startStack();
  creator = await buildIndividual(stack);
  stranger = await buildIndividual(stack);
  admin = await buildOrganizationAdmin(stack);
  otherAdmin = await buildOrganizationAdmin(stack);
  platform = await buildPlatformAdmin(stack);
  superAdmin = await buildSuperAdmin(stack);
});
afterAll(async () => {
  await expectChecksEmpty(stack);
  await stack.stop();
});

const causes = '/v1/charitable-causes';
const create = (user: BuiltUser, body: object = {}) =>
  stack.post(causes, causeBody(user.accountId, body), { token: user.token });
const read = (user: BuiltUser, id: string, headers = {}) =>
  stack.get(`${causes}/${id}`, { token: user.token, headers });
const change = (user: BuiltUser, id: string, body: object) =>
  stack.patch(`${causes}/${id}`, body, { token: user.token });
const approve = (user: BuiltUser, id: string) => stack.patch(`${causes}/${id}/approve`, {}, { token: user.token });
const remove = (user: BuiltUser, id: string) => stack.delete(`${causes}/${id}`, undefined, { token: user.token });
const assign = (user: BuiltUser, id: string, userId: string) =>
  stack.post(`${causes}/${id}/assign-manager`, { user_id: userId }, { token: user.token });
const eventsOf = async (id: string) =>
  (await stack.get(`/v1/events?resource_id=${id}&order=asc`, { token: platform.token })).body.data.items.map(
    ({ event }: { event: string }) => event,
  );

describe('POST /v1/charitable-causes', () => {
  it('Creating a cause returns 201 with status pending and records RESOURCE_CREATED', async () => {
    const { status, body } = await create(creator, { location: 'Lombok', currency: 'IDR' });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      message: expect.any(String),
      name: 'Clean water',
      target_amount: 1_000_000,
      current_amount: 0,
      currency: 'IDR',
      location: 'Lombok',
      owner_type: 'individual',
      organization_id: null,
      account_id: creator.accountId,
      status: 'pending',
      managers: [],
    });
    expect(await eventsOf(body.id)).toEqual(['RESOURCE_CREATED']);
  });

  it('A cause created by an organization admin belongs to the organization', async () => {
    const { body } = await create(admin);
    expect(body).toMatchObject({ owner_type: 'organization', organization_id: admin.organizationId });
  });

  it('A cause that platform users create for an organization accepts only its accounts', async () => {
    const onBehalf = { account_id: admin.accountId, organization_id: admin.organizationId };
    expect((await create(platform, onBehalf)).body).toMatchObject({
      owner_type: 'organization',
      organization_id: admin.organizationId,
    });
    expect((await create(platform, { ...onBehalf, account_id: otherAdmin.accountId })).status).toBe(403);
    expect((await create(platform, { ...onBehalf, account_id: creator.accountId })).status).toBe(403);
    expect((await create(platform, { ...onBehalf, organization_id: newId() })).status).toBe(404);
    expect((await create(platform, { account_id: admin.accountId })).body.owner_type).toBe('platform');
  });

  it.each([
    ['an account of another person', () => create(creator, { account_id: stranger.accountId })],
    ["an organization's account by an individual", () => create(creator, { account_id: admin.accountId })],
    ["another organization's account", () => create(admin, { account_id: otherAdmin.accountId })],
    ['organization_id by an individual', () => create(creator, { organization_id: admin.organizationId })],
    ['organization_id by an organization admin', () => create(admin, { organization_id: admin.organizationId })],
  ])('Creating a cause with %s returns 403', async (_, ask) => {
    expect((await ask()).status).toBe(403);
  });

  it('Creating a cause with a missing account returns 404', async () => {
    expect((await create(creator, { account_id: newId() })).status).toBe(404);
  });

  it.each([
    ['target_amount as a string', { target_amount: '1000000' }, 'target_amount'],
    ['target_amount zero', { target_amount: 0 }, 'target_amount'],
    ['target_amount negative', { target_amount: -5 }, 'target_amount'],
    ['target_amount with five decimals', { target_amount: 1.00001 }, 'target_amount'],
    ['an empty name', { name: '' }, 'name'],
    ['a missing benefit', { benefit: undefined }, 'benefit'],
    ['another currency', { currency: 'USD' }, 'currency'],
    ['an account_id that is not a UUID', { account_id: 'mine' }, 'account_id'],
    ['an unknown field', { status: 'active' }, 'status'],
  ])('Creating a cause with %s returns 400 and names the field', async (_, body, field) => {
    const answer = await create(creator, body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      statusCode: 400,
      error: 'Bad Request',
      message: expect.stringContaining(field),
    });
  });

  it('A cause’s target_amount keeps every digit of the request', async () => {
    const raw = JSON.stringify(causeBody(creator.accountId)).replace('1000000', '99999999999.9999');
    const made = await stack.post(causes, undefined, {
      token: creator.token,
      raw,
      headers: { 'content-type': 'application/json' },
    });
    expect(made.body.target_amount).toBe(99_999_999_999.9999);
  });
});

describe('PATCH /v1/charitable-causes/:id', () => {
  it('A manager may change a cause, and RESOURCE_UPDATED is recorded', async () => {
    const id = await buildCause(stack, creator);
    await assign(creator, id, stranger.id);
    const { status, body } = await change(stranger, id, { name: 'New', target_amount: 5, status: 'in_progress' });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { message: expect.any(String), data: { id, name: 'New', target_amount: 5, status: 'in_progress' } },
    });
    expect(await eventsOf(id)).toEqual(['RESOURCE_CREATED', 'RESOURCE_UPDATED', 'RESOURCE_UPDATED']);
  });

  it('Only its creator and managers can change a cause; even super admins get 403', async () => {
    const id = await buildCause(stack, creator);
    for (const user of [stranger, admin, platform, superAdmin]) {
      expect((await change(user, id, { name: 'New' })).status).toBe(403);
    }
    expect((await change(creator, newId(), { name: 'New' })).status).toBe(404);
    expect((await change(creator, 'no-uuid', { name: 'New' })).status).toBe(400);
  });

  it.each([
    ['a string target_amount', { target_amount: '5' }],
    ['an unknown status', { status: 'all' }],
    ['account_id, which never changes', { account_id: newId() }],
    ['an empty description', { description: ' ' }],
  ])('Changing a cause with %s returns 400', async (_, body) => {
    expect((await change(creator, await buildCause(stack, creator), body)).status).toBe(400);
  });

  it('A cause that was never approved cannot become active, approved or completed', async () => {
    const id = await buildCause(stack, creator);
    expect((await change(creator, id, { status: 'active' })).status).toBe(403);
    expect((await change(creator, id, { status: 'approved' })).status).toBe(403);
    for (const status of ['cancelled', 'new', 'deactivated']) {
      expect((await change(creator, id, { status })).body.data.status).toBe(status);
      expect((await change(creator, id, { status: 'completed' })).status).toBe(403);
      expect((await change(creator, id, { status: 'active' })).status).toBe(403);
      expect((await change(creator, id, { status: 'approved', name: 'Sneaky' })).status).toBe(403);
    }
    expect((await read(creator, id)).body.charitable_cause).toMatchObject({
      status: 'deactivated',
      name: 'Clean water',
    });
  });

  it('An approved cause can be paused and resumed', async () => {
    const id = await buildCause(stack, creator, superAdmin);
    expect((await change(creator, id, { status: 'in_progress' })).status).toBe(200);
    expect((await change(creator, id, { status: 'active' })).body.data.status).toBe('active');
  });
});

describe('PATCH /v1/charitable-causes/:id/approve', () => {
  it('The super admin’s approval makes a cause active; a second one returns 400', async () => {
    const id = await buildCause(stack, creator);
    const { status, body } = await approve(superAdmin, id);
    expect({ status, body }).toMatchObject({ status: 200, body: { data: { id, status: 'active' } } });
    expect((await approve(superAdmin, id)).status).toBe(400);
    await change(creator, id, { status: 'pending' });
    expect((await approve(superAdmin, id)).status).toBe(400);
    expect((await eventsOf(id)).slice(0, 2)).toEqual(['RESOURCE_CREATED', 'RESOURCE_UPDATED']);
  });

  it('Only a super admin can approve a cause, and a deactivated cause cannot be approved', async () => {
    const id = await buildCause(stack, creator);
    for (const user of [creator, admin, platform]) expect((await approve(user, id)).status).toBe(403);
    expect((await approve(superAdmin, newId())).status).toBe(404);
    await remove(creator, id);
    expect((await approve(superAdmin, id)).status).toBe(400);
  });
});

describe('DELETE /v1/charitable-causes/:id', () => {
  it('Deleting a cause deactivates it and records RESOURCE_DELETED', async () => {
    const id = await buildCause(stack, creator);
    const { status, body } = await remove(creator, id);
    expect({ status, body }).toMatchObject({ status: 200, body: { data: { id, status: 'deactivated' } } });
    expect((await read(creator, id)).body.charitable_cause.status).toBe('deactivated');
    expect(await eventsOf(id)).toEqual(['RESOURCE_CREATED', 'RESOURCE_DELETED']);
  });

  it('Deleting a cause returns 403 to managers and others, and 404 for an unknown cause', async () => {
    const id = await buildCause(stack, creator);
    await assign(creator, id, stranger.id);
    for (const user of [stranger, admin, superAdmin]) expect((await remove(user, id)).status).toBe(403);
    expect((await remove(creator, newId())).status).toBe(404);
  });
});

describe('A cause of an organization', () => {
  it('An organization’s cause can be changed, managed and deactivated only by its admins', async () => {
    const { body: made } = await create(admin);
    const colleague = await buildOrganizationAdmin(stack, { organizationId: admin.organizationId });
    const all = (user: BuiltUser) => [
      change(user, made.id, { location: 'Lombok' }),
      assign(user, made.id, stranger.id),
    ];
    for (const answer of all(otherAdmin)) expect((await answer).status).toBe(403);
    for (const answer of all(colleague)) expect((await answer).status).toBe(200);
    expect((await read(colleague, made.id)).body.charitable_cause.location).toBe('Lombok');
    expect((await change(colleague, made.id, { location: null })).body.data.location).toBeNull();
    expect((await remove(otherAdmin, made.id)).status).toBe(403);
    expect((await remove(colleague, made.id)).status).toBe(200);
  });
});

describe('DELETE /v1/charitable-causes/:id/managers/:user_id', () => {
  it('The creator or the manager may remove a manager, who lists the cause until then', async () => {
    const id = await buildCause(stack, creator);
    const manager = await buildIndividual(stack);
    const take = (user: BuiltUser, userId = manager.id) =>
      stack.delete(`${causes}/${id}/managers/${userId}`, undefined, { token: user.token });
    const listed = async () =>
      (await stack.get(causes, { token: manager.token })).body.charitable_causes.map(
        (cause: { id: string }) => cause.id,
      );
    await assign(creator, id, manager.id);
    expect(await listed()).toEqual([id]);
    expect((await take(stranger)).status).toBe(403);
    expect((await take(manager)).status).toBe(200);
    expect(await listed()).toEqual([]);
    expect((await take(creator)).status).toBe(404);
    await assign(creator, id, manager.id);
    expect((await take(creator)).status).toBe(200);
    expect(await eventsOf(id)).toHaveLength(5);
  });
});

describe('POST /v1/charitable-causes/:id/assign-manager', () => {
  it('Assigning a manager adds the manager to the cause’s detail and records an event', async () => {
    const id = await buildCause(stack, creator);
    const { status, body } = await assign(creator, id, stranger.id);
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { message: expect.any(String), data: { manager: { user_id: stranger.id, cause_id: id } } },
    });
    expect((await read(stranger, id)).body.charitable_cause.managers).toEqual([
      { user_id: stranger.id, role: 'manager' },
    ]);
    expect(await eventsOf(id)).toEqual(['RESOURCE_CREATED', 'RESOURCE_UPDATED']);
  });

  it('A suspended user cannot become a manager (400)', async () => {
    const id = await buildCause(stack, creator);
    const suspended = await buildIndividual(stack);
    await stack.owner().execute("update users set status = 'suspended' where id = ?", [suspended.id]);
    const { status, body } = await assign(creator, id, suspended.id);
    expect([status, body.message]).toEqual([400, 'user_id: the user is suspended']);
    expect((await read(creator, id)).body.charitable_cause.managers).toEqual([]);
  });

  it('Assigning a manager whose invitation is withdrawn at the same time returns 404', async () => {
    const id = await buildCause(stack, creator);
    const invitation = { email: `${newId()}@example.org`, name: 'Invited', user_type: 'individual' };
    const { body } = await stack.post('/v1/users/invitations', invitation, { token: superAdmin.token });
    const invited: string = body.data.user.id;
    const holder = stack.em();
    await holder.begin();
    await holder.execute('select from invitations where user_id = ? for update', [invited]);
    const takingBack = stack.delete(`/v1/users/invitations/${invited}`, undefined, { token: superAdmin.token });
    await untilLocked(stack);
    const assigning = assign(creator, id, invited);
    await untilLocked(stack, { count: 2 });
    await holder.rollback();
    expect([(await takingBack).status, (await assigning).status]).toEqual([200, 404]);
  });

  it('Assigning a manager returns 400 for an existing one, 404 for unknown users and 403 to others', async () => {
    const id = await buildCause(stack, creator);
    const twice = await Promise.all([assign(creator, id, stranger.id), assign(creator, id, stranger.id)]);
    expect(twice.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect((await assign(creator, id, creator.id)).status).toBe(400);
    expect((await assign(creator, id, newId())).status).toBe(404);
    expect((await assign(creator, newId(), stranger.id)).status).toBe(404);
    expect((await assign(stranger, id, admin.id)).status).toBe(403);
    expect((await assign(superAdmin, id, admin.id)).status).toBe(403);
    expect((await assign(creator, id, 'no-uuid')).status).toBe(400);
  });
});

describe('Cause routes', () => {
  it('Cause routes need a token (401) and their permission (403)', async () => {
    const id = newId();
    const nobody = await buildIndividual(stack, { role: 'organization_admin' });
    await stack.owner().execute('update users set role_id = null where id = ?', [nobody.id]);
    const visits: [expected: number, headers: Record<string, string>][] = [
      [401, {}],
      [403, { authorization: `Bearer ${nobody.token}` }],
    ];
    for (const [expected, headers] of visits) {
      const answers = await Promise.all([
        stack.get(causes, { headers }),
        stack.get(`${causes}/${id}`, { headers }),
        stack.post(causes, {}, { headers }),
        stack.patch(`${causes}/${id}`, {}, { headers }),
        stack.delete(`${causes}/${id}`, undefined, { headers }),
        stack.post(`${causes}/${id}/assign-manager`, {}, { headers }),
        stack.patch(`${causes}/${id}/approve`, {}, { headers }),
        stack.get('/v1/summary/charitable-causes', { headers }),
      ]);
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => expected));
    }
  });
});
