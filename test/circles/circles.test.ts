import { createHash } from 'node:crypto';
import {
  type BuiltUser,
  buildIndividual,
  buildOrganization,
  buildOrganizationAdmin,
  buildPlatformAdmin,
} from '../support/build.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import {
  addMembers,
  buildActiveCircle,
  circleWhen,
  contribute,
  createCircle,
  dayFromToday,
  eventsOf,
  readCircle,
  startNow,
} from './build-circle.ts';

let stack: Stack;
let organizationId: string;
let admin: BuiltUser;
let otherAdmin: BuiltUser;
let employee: BuiltUser;
let owner: BuiltUser;
let stranger: BuiltUser;
let platform: BuiltUser;
beforeAll(async () => {
  stack = await startStack({ worker: true });
  organizationId = await buildOrganization(stack);
  admin = await buildOrganizationAdmin(stack, { organizationId });
  otherAdmin = await buildOrganizationAdmin(stack);
  employee = await buildIndividual(stack, { organizationId });
  owner = await buildIndividual(stack);
  stranger = await buildIndividual(stack);
  platform = await buildPlatformAdmin(stack);
}, 60_000);
afterAll(() => stack.stop());
afterEach(() => expectChecksEmpty(stack));

const unknown = '6f1e0c5e-6a86-4f0e-a4ad-0a1d5d0b2c11';
const path = '/v1/saving-circles';
const post = (as: BuiltUser, body: object) => stack.post(path, body, { token: as.token });
const valid = (account_id: string) => ({ account_id, name: 'Arisan', start_date: dayFromToday(2), amount: '50000' });
const idsOf = async (as: BuiltUser, query = '') => {
  const { status, body } = await stack.get(`${path}?limit=100${query}`, { token: as.token });
  expect(status).toBe(200);
  return body.saving_circles.map(({ id }: { id: string }) => id);
};
const join = (as: BuiltUser, saving_circle_id: string, account_ids?: string[]) =>
  stack.post(`${path}/members`, { saving_circle_id, ...(account_ids && { account_ids }) }, { token: as.token });

describe('POST /v1/saving-circles', () => {
  it('by an individual answers 201 with its fields, status new, turn 1, and the event RESOURCE_CREATED', async () => {
    const { status, body } = await post(owner, { ...valid(owner.accountId), capacity: 5 });
    expect({ status, body }).toMatchObject({
      status: 201,
      body: {
        message: 'Saving circle created',
        account_id: owner.accountId,
        name: 'Arisan',
        capacity: 5,
        start_date: dayFromToday(2),
        amount: '50000.0000',
        owner_type: 'individual',
        owner_id: owner.id,
        visibility: 'private',
        round_interval: 'monthly',
        turn_order: 'joining',
        current_turn: 1,
        status: 'new',
      },
    });
    expect(body.starts_at).toBe(new Date(`${dayFromToday(2)}T00:00:00+07:00`).toISOString());
    expect(await eventsOf(stack, 'RESOURCE_CREATED', body.id)).toMatchObject([{ actor_id: owner.id }]);
    expect((await readCircle(stack, owner, body.id)).members).toEqual([]);
  });

  it('by an organization admin, and by platform for its account, belongs to the organization', async () => {
    for (const creator of [admin, platform]) {
      const { body } = await post(creator, valid(admin.accountId));
      expect(body).toMatchObject({ owner_type: 'organization', owner_id: organizationId });
    }
  });

  it('takes a date-time as its start, and no capacity', async () => {
    const start_date = new Date(Date.now() + 3_600_000).toISOString();
    const { body } = await post(owner, { ...valid(owner.accountId), start_date });
    expect(body).toMatchObject({ start_date, starts_at: start_date, capacity: 100 });
  });

  it.each([
    ['account_id', undefined],
    ['account_id', 'not-a-uuid'],
    ['name', undefined],
    ['name', ''],
    ['start_date', undefined],
    ['start_date', 'tomorrow'],
    ['start_date', '2026-02-30'],
    ['start_date', dayFromToday(-1)],
    ['amount', undefined],
    ['amount', 50000],
    ['amount', '0'],
    ['amount', '-5'],
    ['amount', '1.00001'],
    ['amount', '1000000000000.0001'],
    ['capacity', 0],
    ['capacity', -1],
    ['capacity', 1.5],
    ['capacity', '5'],
    ['capacity', 1001],
    ['visibility', 'secret'],
    ['round_interval', 'yearly'],
    ['turn_order', 'random'],
    ['status', 'active'],
  ])('refuses %s: %s with 400 that names the field', async (field, value) => {
    const { status, body } = await post(owner, { ...valid(owner.accountId), [field]: value });
    expect({ status, message: String(body.message) }).toMatchObject({
      status: 400,
      message: expect.stringContaining(field),
    });
  });

  it("refuses another's account with 403, one that does not exist with 404, no token with 401", async () => {
    expect((await post(owner, valid(stranger.accountId))).status).toBe(403);
    expect((await post(platform, valid(owner.accountId))).status).toBe(403);
    expect((await post(employee, valid(admin.accountId))).status).toBe(403);
    expect((await post(owner, valid(unknown))).status).toBe(404);
    expect((await stack.post(path, valid(owner.accountId))).status).toBe(401);
    const powerless = await buildIndividual(stack, { role: 'no such role' });
    expect((await post(powerless, valid(powerless.accountId))).status).toBe(403);
  });
});

describe('POST /v1/saving-circles/members', () => {
  it('adds accounts in their order, all or none, and leaves the event RESOURCE_UPDATED', async () => {
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

  it('refuses who is a member already, also with another account or twice in one request', async () => {
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

  it('lets people join by themselves where the visibility is for them', async () => {
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

  it('refuses an unknown circle or account with 404, a circle that has started and an empty list with 400', async () => {
    const { id, creator } = await buildActiveCircle(stack, 2);
    expect((await join(creator, id, [stranger.accountId])).status).toBe(400);
    expect((await join(owner, unknown)).status).toBe(404);
    const fresh = await createCircle(stack, owner);
    expect((await join(owner, fresh.id, [unknown])).status).toBe(404);
    expect((await join(owner, fresh.id, [])).status).toBe(400);
    expect((await join(owner, fresh.id, [admin.accountId])).status).toBe(400);
    expect((await join(owner, 'not-a-uuid')).status).toBe(400);
  });

  it('takes no more than its capacity when many join at once', async () => {
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

  it('by the member, the creator or an admin while the circle is new; others 403, unknown 404, later 400', async () => {
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

describe('GET /v1/saving-circles', () => {
  it('shows individuals their own and joined circles, admins the organization’s, platform all', async () => {
    const mine = (await createCircle(stack, owner)).id;
    const joined = (await createCircle(stack, stranger)).id;
    await join(stranger, joined, [owner.accountId]);
    const ofOrganization = (await createCircle(stack, admin)).id;
    const hidden = (await createCircle(stack, employee)).id;
    const inside = (await createCircle(stack, employee, { visibility: 'organization' })).id;
    const open = (await createCircle(stack, employee, { visibility: 'public' })).id;

    expect(await idsOf(owner)).toEqual(expect.arrayContaining([mine, joined]));
    expect(await idsOf(owner)).not.toContain(ofOrganization);
    expect(await idsOf(admin)).toEqual(expect.arrayContaining([ofOrganization, inside, open]));
    expect(await idsOf(admin)).not.toContain(hidden);
    expect(await idsOf(admin)).not.toContain(mine);
    expect(await idsOf(platform)).toEqual(expect.arrayContaining([mine, joined, ofOrganization, hidden, inside, open]));

    // The marketplace.
    expect(await idsOf(otherAdmin, `&organization_id=${organizationId}`)).toContain(open);
    for (const unseen of [inside, hidden, ofOrganization]) {
      expect(await idsOf(otherAdmin, `&organization_id=${organizationId}`)).not.toContain(unseen);
    }
    const colleague = await buildIndividual(stack, { organizationId });
    expect(await idsOf(colleague)).toEqual([]);
    expect(await idsOf(colleague, `&organization_id=${organizationId}`)).toEqual(
      expect.arrayContaining([open, inside]),
    );
    expect(await idsOf(colleague, `&organization_id=${organizationId}`)).not.toContain(hidden);
    expect((await stack.get(`${path}?organization_id=${organizationId}`, { token: owner.token })).status).toBe(403);
    expect(await idsOf(platform, `&organization_id=${organizationId}`)).toContain(hidden);
  });

  it('filters by status, user and account within the reach of the caller, and pages', async () => {
    const someone = await buildIndividual(stack, { organizationId });
    const first = (await createCircle(stack, someone, { visibility: 'organization' })).id;
    const second = (await createCircle(stack, someone, { visibility: 'organization' })).id;
    expect(await idsOf(someone)).toEqual([second, first]);
    expect(await idsOf(someone, '&order=asc')).toEqual([first, second]);
    expect(await idsOf(someone, `&after=${second}`)).toEqual([first]);
    expect(await idsOf(someone, '&status=active')).toEqual([]);
    expect(await idsOf(someone, '&status=new')).toHaveLength(2);
    const { body } = await stack.get(`${path}?page=2&limit=1`, { token: someone.token });
    expect(body).toMatchObject({ page: 2, limit: 1, total: 2, saving_circles: [{ id: first }] });
    for (const query of [`&user_id=${someone.id}`, `&account_id=${someone.accountId}`]) {
      expect(await idsOf(someone, query)).toHaveLength(2);
      expect(await idsOf(admin, query)).toHaveLength(2);
      expect(await idsOf(platform, query)).toHaveLength(2);
      expect((await stack.get(`${path}?${query.slice(1)}`, { token: owner.token })).status).toBe(403);
      expect((await stack.get(`${path}?${query.slice(1)}`, { token: otherAdmin.token })).status).toBe(403);
    }
    for (const query of ['page=0', 'limit=0', 'limit=101', 'status=paused', 'organization_id=x', 'order=up']) {
      expect((await stack.get(`${path}?${query}`, { token: owner.token })).status).toBe(400);
    }
    expect((await stack.get(path)).status).toBe(401);
  });
});

describe('GET /v1/saving-circles/:id', () => {
  it('shows members and the contribution summary, web clients also an aggregation', async () => {
    const { id, members } = await buildActiveCircle(stack, 3);
    const [first] = members as [BuiltUser];
    await contribute(stack, first, id);
    const web = await stack.get(`${path}/${id}`, { token: first.token });
    expect(web.body.saving_circle).toMatchObject({
      id,
      status: 'active',
      round: { turn_number: 1 },
      members: members.map((member, index) => ({ user_id: member.id, turn_number: index + 1 })),
      contribution_summary: {
        turn_number: 1,
        completed_count: 1,
        pending_count: 0,
        missing_user_ids: members.slice(1).map((member) => member.id),
        expected_amount: '300000.0000',
        collected_amount: '100000.0000',
        total_contributed_amount: '100000.0000',
      },
      documents: [],
      aggregation: { member_count: 3, paid_this_turn: 1, pot_amount: '300000.0000' },
    });
    const mobile = await stack.get(`${path}/${id}`, { token: first.token, headers: { 'x-client-type': 'mobile' } });
    const { aggregation: _, ...stored } = web.body.saving_circle;
    expect(mobile.body.saving_circle).toEqual(stored);
  });

  it('is open to creator, members, admins and whom the visibility is for; others 403, unknown 404, no id 400', async () => {
    const see = async (as: BuiltUser, id: string) => (await stack.get(`${path}/${id}`, { token: as.token })).status;
    const hidden = (await createCircle(stack, employee)).id;
    await join(employee, hidden, [stranger.accountId]);
    expect(await Promise.all([employee, stranger, platform].map((as) => see(as, hidden)))).toEqual([200, 200, 200]);
    expect(await Promise.all([owner, admin, otherAdmin].map((as) => see(as, hidden)))).toEqual([403, 403, 403]);
    const inside = (await createCircle(stack, admin, { visibility: 'organization' })).id;
    expect(await Promise.all([admin, employee].map((as) => see(as, inside)))).toEqual([200, 200]);
    expect(await Promise.all([owner, otherAdmin].map((as) => see(as, inside)))).toEqual([403, 403]);
    const open = (await createCircle(stack, admin, { visibility: 'public' })).id;
    expect(await Promise.all([owner, otherAdmin].map((as) => see(as, open)))).toEqual([200, 200]);
    expect(await see(owner, unknown)).toBe(404);
    expect(await see(owner, 'not-a-uuid')).toBe(400);
  });
});

describe('PATCH /v1/saving-circles/:id', () => {
  const patch = (as: BuiltUser, id: string, body: object) => stack.patch(`${path}/${id}`, body, { token: as.token });

  it('changes everything while the circle is new, with the event RESOURCE_UPDATED', async () => {
    const { id } = await createCircle(stack, owner, { capacity: 5 });
    const change = {
      name: 'Arisan Mawar',
      capacity: 4,
      start_date: dayFromToday(9),
      amount: '75000.5',
      current_turn: 2,
      visibility: 'public',
    };
    const { status, body } = await patch(owner, id, change);
    expect({ status, body }).toMatchObject({ status: 200, body: { data: { ...change, amount: '75000.5000', id } } });
    expect(await eventsOf(stack, 'RESOURCE_UPDATED', id)).toMatchObject([
      { actor_id: owner.id, data: { fields: Object.keys(change) } },
    ]);
    expect((await patch(platform, id, { name: 'By the platform' })).status).toBe(200);
  });

  it('refuses a capacity below the members, a turn beyond the capacity, a day before today, fields it does not know', async () => {
    const { id } = await createCircle(stack, owner, { capacity: 5 });
    await join(owner, id, [owner.accountId, stranger.accountId]);
    for (const [field, value] of [
      ['capacity', 1],
      ['capacity', 0],
      ['current_turn', 6],
      ['current_turn', 0],
      ['start_date', dayFromToday(-1)],
      ['amount', '0'],
      ['amount', 5],
      ['visibility', 'nobody'],
      ['name', ''],
      ['status', 'active'],
      ['turn_order', 'lottery'],
    ] as const) {
      const { status, body } = await patch(owner, id, { [field]: value });
      expect({ field, status, message: String(body.message) }).toMatchObject({
        status: 400,
        message: expect.stringContaining(field),
      });
    }
    await patch(owner, id, { current_turn: 5 });
    expect((await patch(owner, id, { capacity: 4 })).status).toBe(400);
    expect((await patch(owner, id, { capacity: 2, current_turn: 2 })).status).toBe(200);
  });

  it('changes only name and visibility once the circle is active', async () => {
    const { id, creator } = await buildActiveCircle(stack, 2);
    expect((await patch(creator, id, { name: 'New name', visibility: 'public' })).body.data).toMatchObject({
      name: 'New name',
      visibility: 'public',
    });
    for (const body of [
      { capacity: 50 },
      { start_date: dayFromToday(3) },
      { amount: '1' },
      { current_turn: 2 },
      { name: 'Both', capacity: 50 },
    ]) {
      expect((await patch(creator, id, body)).status).toBe(400);
    }
    expect((await readCircle(stack, creator, id)).name).toBe('New name');
  });

  it('is for creator and admins only (403), and for circles that exist (404)', async () => {
    const { id } = await createCircle(stack, admin, { visibility: 'public' });
    await join(admin, id, [stranger.accountId]);
    for (const as of [stranger, otherAdmin, employee]) expect((await patch(as, id, { name: 'X' })).status).toBe(403);
    const colleague = await buildOrganizationAdmin(stack, { organizationId });
    expect((await patch(colleague, id, { name: 'By a colleague' })).status).toBe(200);
    expect((await patch(owner, unknown, { name: 'X' })).status).toBe(404);
  });
});

describe('DELETE /v1/saving-circles/:id', () => {
  const remove = (as: BuiltUser, id: string) => stack.delete(`${path}/${id}`, undefined, { token: as.token });
  const isOver = (id: string) =>
    eventually(
      () => stack.deps.temporal.client.workflow.getHandle(`saving-circle/${id}`).describe(),
      ({ status }) => status.name === 'COMPLETED',
    );

  it('of a new circle: it is gone, 404 afterwards, with the event RESOURCE_DELETED, and its workflow ends', async () => {
    const { id } = await createCircle(stack, owner);
    await join(owner, id, [owner.accountId, stranger.accountId]);
    expect((await remove(stranger, id)).status).toBe(403);
    expect((await remove(owner, id)).status).toBe(200);
    for (const as of [owner, stranger, platform]) {
      expect((await stack.get(`${path}/${id}`, { token: as.token })).status).toBe(404);
      expect(await idsOf(as)).not.toContain(id);
    }
    expect((await remove(owner, id)).status).toBe(404);
    expect((await join(owner, id)).status).toBe(404);
    expect(await eventsOf(stack, 'RESOURCE_DELETED', id)).toMatchObject([{ impact: 'HIGH', actor_id: owner.id }]);
    await isOver(id);
  });

  it('of an active circle without contributions: gone; with one of any status: 400', async () => {
    const empty = await buildActiveCircle(stack, 2);
    expect((await remove(empty.creator, empty.id)).status).toBe(200);
    expect((await stack.get(`${path}/${empty.id}`, { token: empty.creator.token })).status).toBe(404);
    expect((await contribute(stack, empty.creator, empty.id)).status).toBe(404);
    await isOver(empty.id);

    const used = await buildActiveCircle(stack, 2);
    await contribute(stack, used.creator, used.id);
    expect((await remove(used.creator, used.id)).status).toBe(400);
    await stack.post(`${path}/${used.id}/cancel`, undefined, { token: platform.token });
    expect((await remove(platform, used.id)).status).toBe(400);
    expect((await readCircle(stack, used.creator, used.id)).status).toBe('cancelled');
  });

  it('of a completed circle: 400', async () => {
    const { id } = await createCircle(stack, owner, { capacity: 9 });
    await join(owner, id, [owner.accountId, stranger.accountId]);
    await stack.patch(`${path}/${id}`, { current_turn: 3 }, { token: owner.token });
    await stack.patch(`${path}/${id}`, { start_date: dayFromToday(0) }, { token: owner.token });
    await circleWhen(stack, owner, id, { status: 'completed' });
    expect((await remove(owner, id)).status).toBe(400);
    expect((await remove(owner, unknown)).status).toBe(404);
  });
});

describe('GET /v1/saving-circles/:id/draw', () => {
  const draw = async (as: BuiltUser, id: string) => stack.get(`${path}/${id}/draw`, { token: as.token });
  const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');

  it('commits to the seed before members join, and reveals it with an order that anyone can check', async () => {
    const { id } = await createCircle(stack, owner, { turn_order: 'lottery' });
    const before = (await draw(owner, id)).body.data;
    expect(before).toEqual({ commitment: expect.stringMatching(/^[0-9a-f]{64}$/), seed: null, order: null });
    const [row] = await stack
      .em()
      .execute<{ text: string }[]>('select row_to_json(c)::text as text from saving_circles c where id = ?', [id]);

    const people = await Promise.all(Array.from({ length: 6 }, () => buildIndividual(stack)));
    await addMembers(stack, owner, id, people);
    expect((await draw(owner, id)).body.data).toEqual(before);
    await startNow(stack, owner, id);

    const { data } = (await draw(people[0] as BuiltUser, id)).body;
    expect(data.commitment).toBe(before.commitment);
    expect(data.seed).toMatch(/^[0-9a-f]+$/);
    expect(sha256(data.seed)).toBe(before.commitment);
    expect(row?.text).not.toContain(data.seed);
    const byRank = people
      .map(({ accountId }) => ({ accountId, rank: sha256(`${data.seed}:${accountId}`) }))
      .sort((left, right) => (left.rank < right.rank ? -1 : 1));
    expect(data.order).toEqual(
      byRank.map(({ accountId }, index) => ({ account_id: accountId, turn_number: index + 1 })),
    );
    const { members } = await readCircle(stack, owner, id);
    expect(members.map(({ account_id }: { account_id: string }) => account_id)).toEqual(
      byRank.map(({ accountId }) => accountId),
    );
  });

  it('is 404 without a lottery and for an unknown circle, 403 where the circle is not to be seen', async () => {
    const plain = await createCircle(stack, owner);
    expect((await draw(owner, plain.id)).status).toBe(404);
    expect((await draw(owner, unknown)).status).toBe(404);
    const lottery = await createCircle(stack, owner, { turn_order: 'lottery' });
    expect((await draw(stranger, lottery.id)).status).toBe(403);
  });
});

describe('GET /v1/summary/saving-circles', () => {
  const summary = (as: BuiltUser, query = '') => stack.get(`/v1/summary/saving-circles${query}`, { token: as.token });

  it("sums up the organization's circles, all strings, with the event RESOURCE_FETCHED", async () => {
    const boss = await buildOrganizationAdmin(stack);
    expect((await summary(boss)).body).toMatchObject({
      organization_id: boss.organizationId,
      organization_name: expect.any(String),
      completed_circles: '0',
      cancelled_circles: '0',
      total_contribution_amount: '0.0000',
      average_capacity: '0.00',
      average_current_turn: '0.00',
    });
    const { id } = await createCircle(stack, boss, { capacity: 4 });
    const people = await Promise.all([1, 2].map(() => buildIndividual(stack, { balance: '100000' })));
    await addMembers(stack, boss, id, people);
    await startNow(stack, boss, id);
    await contribute(stack, people[0] as BuiltUser, id);
    const cancelled = await createCircle(stack, boss, { capacity: 9, start_date: dayFromToday(0) });
    await circleWhen(stack, boss, cancelled.id, { status: 'cancelled' });
    const deleted = await createCircle(stack, boss, { capacity: 100 });
    await stack.delete(`${path}/${deleted.id}`, undefined, { token: boss.token });
    const expected = {
      completed_circles: '0',
      cancelled_circles: '1',
      total_contribution_amount: '100000.0000',
      average_capacity: '6.50',
      average_current_turn: '1.00',
    };
    expect((await summary(boss)).body).toMatchObject(expected);
    expect((await summary(platform, `?organization_id=${boss.organizationId}`)).body).toMatchObject(expected);
    expect(await eventsOf(stack, 'RESOURCE_FETCHED', boss.organizationId ?? '')).toMatchObject(
      expect.arrayContaining([expect.objectContaining({ impact: 'LOW', actor_id: boss.id })]),
    );
    const all = (await summary(platform)).body;
    expect(Object.values(all).every((value) => value === null || typeof value === 'string')).toBe(true);
  });

  it('is 401 for another organization, 403 for individuals, 404 for one that does not exist', async () => {
    expect((await summary(admin, `?organization_id=${otherAdmin.organizationId}`)).status).toBe(401);
    expect((await summary(admin, `?organization_id=${unknown}`)).status).toBe(401);
    expect((await summary(owner)).status).toBe(403);
    expect((await summary(platform, `?organization_id=${unknown}`)).status).toBe(404);
    expect((await summary(platform, '?organization_id=x')).status).toBe(400);
  });
});
