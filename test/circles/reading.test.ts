import { createHash } from 'node:crypto';
import { verifyDraw } from '../../sdk/index.ts';
import { type BuiltUser, buildIndividual, buildOrganizationAdmin } from '../support/build.ts';
import { expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import {
  addMembers,
  buildActiveCircle,
  buildCast,
  circleWhen,
  contribute,
  createCircle,
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
  ({ organizationId, admin, otherAdmin, employee, owner, stranger, platform } = await buildCast(stack));
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const unknown = '6f1e0c5e-6a86-4f0e-a4ad-0a1d5d0b2c11';
const path = '/v1/saving-circles';
const idsOf = async (as: BuiltUser, query = '') => {
  const { status, body } = await stack.get(`${path}?limit=100${query}`, { token: as.token });
  expect(status).toBe(200);
  return body.saving_circles.map(({ id }: { id: string }) => id);
};
const join = (as: BuiltUser, saving_circle_id: string, account_ids?: string[]) =>
  stack.post(`${path}/members`, { saving_circle_id, ...(account_ids && { account_ids }) }, { token: as.token });

describe('GET /v1/saving-circles', () => {
  it('Listing circles with discover=true shows all public circles without members and accounts', async () => {
    const open = (await createCircle(stack, owner, { visibility: 'public' })).id;
    const closed = (await createCircle(stack, owner)).id;
    for (const user of [stranger, otherAdmin, platform]) {
      const { body } = await stack.get(`${path}?discover=true&limit=100`, { token: user.token });
      const shown: { id: string }[] = body.saving_circles;
      expect(shown.map(({ id }) => id)).toContain(open);
      expect(shown.map(({ id }) => id)).not.toContain(closed);
      for (const circle of shown) {
        expect(Object.keys(circle)).not.toEqual(expect.arrayContaining(['account_id']));
        expect(Object.keys(circle)).not.toEqual(expect.arrayContaining(['members']));
      }
    }
  });

  it('Individuals list their own and joined circles, admins their organization’s, platform users all', async () => {
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

    // By organization, outsiders list only its public circles.
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

  it('Circles can be filtered by status, user and account, and paged', async () => {
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
    for (const as of [someone, admin, platform]) {
      expect((await stack.get(`${path}?account_id=${unknown}`, { token: as.token })).status).toBe(404);
    }
    for (const query of ['page=0', 'limit=0', 'limit=101', 'status=paused', 'organization_id=x', 'order=up']) {
      expect((await stack.get(`${path}?${query}`, { token: owner.token })).status).toBe(400);
    }
    expect((await stack.get(path)).status).toBe(401);
  });
});

describe('GET /v1/saving-circles/:id', () => {
  it('A circle shows its members and contribution summary, and an aggregation to web clients', async () => {
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

  it('A public circle does not show strangers its accounts or who has not paid', async () => {
    const { id, members, creator } = await buildActiveCircle(stack, 2, { visibility: 'public' });
    await contribute(stack, members[0] as BuiltUser, id);
    const { status, body } = await stack.get(`${path}/${id}`, { token: stranger.token });
    expect(status).toBe(200);
    for (const { accountId } of members) expect(JSON.stringify(body)).not.toContain(accountId);
    expect(body.saving_circle).toMatchObject({
      account_id: null,
      members: members.map((member, index) => ({ user_id: member.id, account_id: null, turn_number: index + 1 })),
      contribution_summary: { completed_count: 1, missing_user_ids: null },
    });
    for (const insider of [...members, platform]) {
      const { saving_circle } = (await stack.get(`${path}/${id}`, { token: insider.token })).body;
      expect(saving_circle).toMatchObject({
        account_id: creator.accountId,
        members: members.map(({ accountId }) => ({ account_id: accountId })),
        contribution_summary: { missing_user_ids: [members[1]?.id] },
      });
    }
  });

  it('A circle is readable only by its creator, members, platform users and those its visibility admits', async () => {
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

describe('GET /v1/saving-circles/:id/contributions', () => {
  const read = (as: BuiltUser, id: string, query = '') =>
    stack.get(`${path}/${id}/contributions${query}`, { token: as.token });

  it('Members see only their own contributions; the creator and platform users see all', async () => {
    const { id, creator, members } = await buildActiveCircle(stack, 3);
    const [, second, third] = members as [BuiltUser, BuiltUser, BuiltUser];
    const { message: _, ...first } = (await contribute(stack, creator, id)).body;
    const { message: __, ...own } = (await contribute(stack, second, id)).body;
    expect((await read(second, id)).body).toEqual({
      message: expect.any(String),
      data: { items: [own], page: 1, limit: 10, total: 1 },
    });
    expect((await read(third, id)).body.data).toMatchObject({ items: [], total: 0 });
    for (const as of [creator, platform]) {
      expect((await read(as, id)).body.data).toMatchObject({ items: [own, first], total: 2 });
    }
    expect((await read(creator, id, `?after=${own.id}`)).body.data.items).toEqual([first]);
    expect([(await read(stranger, id)).status, (await read(creator, unknown)).status]).toEqual([403, 404]);
  });
});

describe('GET /v1/saving-circles/:id/draw', () => {
  const draw = async (as: BuiltUser, id: string) => stack.get(`${path}/${id}/draw`, { token: as.token });
  const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');

  it('A draw shows its commitment before members join, and then a seed and order to verify', async () => {
    const { id } = await createCircle(stack, owner, { turn_order: 'lottery', visibility: 'public' });
    const before = (await draw(owner, id)).body.data;
    expect(before).toEqual({ commitment: expect.stringMatching(/^[0-9a-f]{64}$/), seed: null, order: null });
    const [row] = await stack
      .em()
      .execute<{ text: string }[]>('select row_to_json(c)::text as text from saving_circles c where id = ?', [id]);

    const people = await Promise.all(Array.from({ length: 4 }, () => buildIndividual(stack)));
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
    expect(await verifyDraw(data, before.commitment)).toEqual(byRank.map(({ accountId }) => accountId));
    const { members } = await readCircle(stack, owner, id);
    expect(members.map(({ account_id }: { account_id: string }) => account_id)).toEqual(
      byRank.map(({ accountId }) => accountId),
    );
    expect((await draw(owner, id)).body.data).toEqual(data);
    const order = byRank.map((_, index) => ({ account_id: null, turn_number: index + 1 }));
    expect((await draw(stranger, id)).body.data).toEqual({ ...data, order });
  });

  it('A draw returns 404 without a lottery or circle, and 403 to those who may not see the circle', async () => {
    const plain = await createCircle(stack, owner);
    expect((await draw(owner, plain.id)).status).toBe(404);
    expect((await draw(owner, unknown)).status).toBe(404);
    const lottery = await createCircle(stack, owner, { turn_order: 'lottery' });
    expect((await draw(stranger, lottery.id)).status).toBe(403);
  });
});

describe('GET /v1/summary/saving-circles', () => {
  const summary = (as: BuiltUser, query = '') => stack.get(`/v1/summary/saving-circles${query}`, { token: as.token });

  it('The summary of circles returns an organization’s totals and records RESOURCE_FETCHED', async () => {
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
    const cancelled = await createCircle(stack, boss, { capacity: 9 });
    const soon = new Date(Date.now() + 500).toISOString();
    await stack.patch(`${path}/${cancelled.id}`, { start_date: soon }, { token: boss.token });
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
    const employee = await buildIndividual(stack, { organizationId: String(boss.organizationId) });
    await createCircle(stack, employee, { capacity: 2, visibility: 'private' });
    const { body: list } = await stack.get(`${path}?organization_id=${boss.organizationId}&limit=100`, {
      token: platform.token,
    });
    const capacities: number[] = list.saving_circles.map(({ capacity }: { capacity: number }) => capacity);
    const average = capacities.reduce((sum, capacity) => sum + capacity, 0) / list.total;
    for (const [as, query] of [
      [boss, ''],
      [platform, `?organization_id=${boss.organizationId}`],
    ] as const) {
      expect((await summary(as, query)).body.average_capacity).toBe(average.toFixed(2));
    }
    expect(await eventsOf(stack, 'RESOURCE_FETCHED', boss.organizationId ?? '')).toMatchObject(
      expect.arrayContaining([expect.objectContaining({ impact: 'LOW', actor_id: boss.id })]),
    );
    const all = (await summary(platform)).body;
    expect(Object.values(all).every((value) => value === null || typeof value === 'string')).toBe(true);
  });

  it('The summary of circles returns 401 for another organization and 403 to individuals', async () => {
    expect((await summary(admin, `?organization_id=${otherAdmin.organizationId}`)).status).toBe(401);
    expect((await summary(admin, `?organization_id=${unknown}`)).status).toBe(401);
    expect((await summary(owner)).status).toBe(403);
    expect((await summary(platform, `?organization_id=${unknown}`)).status).toBe(404);
    expect((await summary(platform, '?organization_id=x')).status).toBe(400);
  });
});
