import { type BuiltUser, buildIndividual, buildOrganizationAdmin } from '../support/build.ts';
import { itInFull } from '../support/full.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import {
  buildActiveCircle,
  buildCast,
  circleWhen,
  contribute,
  createCircle,
  dayFromToday,
  eventsOf,
  readCircle,
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
const post = (as: BuiltUser, body: object) => stack.post(path, body, { token: as.token });
const valid = (account_id: string) => ({ account_id, name: 'Arisan', start_date: dayFromToday(2), amount: '50000' });
const idsOf = async (as: BuiltUser, query = '') => {
  const { status, body } = await stack.get(`${path}?limit=100${query}`, { token: as.token });
  expect(status).toBe(200);
  return body.saving_circles.map(({ id }: { id: string }) => id);
};
const join = (as: BuiltUser, saving_circle_id: string, account_ids?: string[]) =>
  stack.post(`${path}/members`, { saving_circle_id, ...(account_ids && { account_ids }) }, { token: as.token });

const patch = (as: BuiltUser, id: string, body: object) => stack.patch(`${path}/${id}`, body, { token: as.token });

describe('POST /v1/saving-circles', () => {
  it('Creating a circle returns 201 with status new and turn 1 and records RESOURCE_CREATED', async () => {
    const fields = valid(owner.accountId);
    const { status, body } = await post(owner, { ...fields, capacity: 5 });
    expect({ status, body }).toMatchObject({
      status: 201,
      body: {
        message: 'Saving circle created',
        account_id: owner.accountId,
        name: 'Arisan',
        capacity: 5,
        start_date: fields.start_date,
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
    expect(body.starts_at).toBe(new Date(`${fields.start_date}T00:00:00+07:00`).toISOString());
    expect(await eventsOf(stack, 'RESOURCE_CREATED', body.id)).toMatchObject([{ actor_id: owner.id }]);
    const [holding] = await stack
      .em()
      .execute<{ id: string }[]>('select id from accounts where owner_id = ?', [body.id]);
    expect(await eventsOf(stack, 'RESOURCE_CREATED', String(holding?.id))).toMatchObject([{ actor_id: owner.id }]);
    expect((await readCircle(stack, owner, body.id)).members).toEqual([]);
  });

  it('A circle created for an organization’s account belongs to the organization', async () => {
    for (const creator of [admin, platform]) {
      const { body } = await post(creator, valid(admin.accountId));
      expect(body).toMatchObject({ owner_type: 'organization', owner_id: organizationId });
    }
  });

  it('A circle may start at a date-time and needs no capacity', async () => {
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
    ['start_date', '2199-01-02'],
    ['start_date', '9999-12-31T23:59:59Z'],
    ['amount', undefined],
    ['amount', 50000],
    ['amount', '0'],
    ['amount', '-5'],
    ['amount', '1.00001'],
    ['amount', '100000000000000'],
    ['capacity', 0],
    ['capacity', -1],
    ['capacity', 1.5],
    ['capacity', '5'],
    ['capacity', 2_147_483_648],
    ['visibility', 'secret'],
    ['round_interval', 'yearly'],
    ['turn_order', 'random'],
    ['status', 'active'],
  ])('Creating a circle with %s: %s returns 400 and names the field', async (field, value) => {
    const { status, body } = await post(owner, { ...valid(owner.accountId), [field]: value });
    expect({ status, message: String(body.message) }).toMatchObject({
      status: 400,
      message: expect.stringContaining(field),
    });
  });

  it('The largest possible pot limits a circle’s capacity, and the error states that limit', async () => {
    const big = await createCircle(stack, owner, { capacity: 250_000 });
    expect(big.capacity).toBe(250_000);
    const largest = { ...valid(owner.accountId), capacity: 3, amount: '3333333333333333.3333' };
    const { id } = (await post(owner, largest)).body;
    const above = await post(owner, { ...largest, amount: '3333333333333333.3334' });
    expect([above.status, above.body.message]).toEqual([
      400,
      'amount: with a capacity of 3 the amount must be at most 3333333333333333.3333',
    ]);
    const wider = await patch(owner, id, { capacity: 4 });
    expect([wider.status, wider.body.message]).toEqual([
      400,
      'capacity: with a capacity of 4 the amount must be at most 2499999999999999.9999',
    ]);
    const beyond = await post(owner, { ...valid(owner.accountId), capacity: 2_147_483_648 });
    expect(beyond.body.message).toBe('capacity: must be at most 2147483647');
    expect((await patch(owner, id, { capacity: 4, amount: '1' })).status).toBe(200);
  });

  itInFull('A circle that starts today waits for a second member until the end of the day', async () => {
    const { id } = await createCircle(stack, owner, { start_date: dayFromToday(0), visibility: 'public' });
    expect((await join(owner, id, [owner.accountId])).status).toBe(201);
    const [row] = await stack
      .em()
      .execute<{ status: string }[]>('select status from saving_circles where id = ?', [id]);
    expect(row?.status).toBe('new');
    expect((await join(stranger, id)).status).toBe(201);
    await circleWhen(stack, owner, id, { status: 'active' });
  });

  it('Creating a circle returns 403 for someone else’s account and 404 for a missing one', async () => {
    expect((await post(owner, valid(stranger.accountId))).status).toBe(403);
    expect((await post(platform, valid(owner.accountId))).status).toBe(403);
    expect((await post(employee, valid(admin.accountId))).status).toBe(403);
    expect((await post(owner, valid(unknown))).status).toBe(404);
    expect((await stack.post(path, valid(owner.accountId))).status).toBe(401);
    const powerless = await buildIndividual(stack, { role: 'no such role' });
    expect((await post(powerless, valid(powerless.accountId))).status).toBe(403);
  });
});

describe('PATCH /v1/saving-circles/:id', () => {
  it('A new circle can change its name, capacity, start, amount, turn and visibility', async () => {
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

  it('Updating a circle rejects invalid values, a capacity below its members or below its turn', async () => {
    const { id } = await createCircle(stack, owner, { capacity: 5 });
    await join(owner, id, [owner.accountId, stranger.accountId]);
    for (const [field, value] of [
      ['capacity', 1],
      ['capacity', 0],
      ['current_turn', 6],
      ['current_turn', 0],
      ['start_date', dayFromToday(-1)],
      ['start_date', '2300-01-01'],
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
    const { id: alone } = await createCircle(stack, owner, { capacity: 5 });
    expect((await patch(owner, alone, { current_turn: 5 })).status).toBe(200);
    expect((await patch(owner, alone, { capacity: 4 })).status).toBe(400);
    expect((await patch(owner, alone, { capacity: 2, current_turn: 2 })).status).toBe(200);
  });

  it('Only the name and visibility of an active circle can change', async () => {
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

  it('Only the creator and admins may update a circle, and an unknown circle returns 404', async () => {
    const { id } = await createCircle(stack, admin, { visibility: 'public' });
    await join(admin, id, [stranger.accountId]);
    for (const as of [stranger, otherAdmin, employee]) expect((await patch(as, id, { name: 'X' })).status).toBe(403);
    const colleague = await buildOrganizationAdmin(stack, { organizationId });
    expect((await patch(colleague, id, { name: 'By a colleague' })).status).toBe(200);
    expect((await patch(stranger, id, { name: 'X' })).body.message).toMatch(/^id: /);
    const { status, body } = await patch(owner, unknown, { name: 'X' });
    expect([status, body.message]).toEqual([404, 'The saving circle was not found']);
  });
});

describe('DELETE /v1/saving-circles/:id', () => {
  const remove = (as: BuiltUser, id: string) => stack.delete(`${path}/${id}`, undefined, { token: as.token });
  const isOver = (id: string) =>
    eventually(
      () => stack.deps.workflows.client.workflow.getHandle(`saving-circle/${id}`).describe(),
      ({ status }) => status.name === 'COMPLETED',
    );

  it('Deleting a new circle removes it, records RESOURCE_DELETED and completes its workflow', async () => {
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

  it('An active circle can be deleted only while it has no contribution of any status', async () => {
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

  it('Deleting a completed circle returns 400, and a missing one 404', async () => {
    const [first, second] = await Promise.all([1, 2].map(() => buildIndividual(stack, { balance: '100000' })));
    const { id } = await createCircle(stack, first as BuiltUser);
    const lastTurn = { current_turn: 2, start_date: dayFromToday(0) };
    expect((await patch(first as BuiltUser, id, lastTurn)).status).toBe(200);
    await join(first as BuiltUser, id, [first?.accountId ?? '', second?.accountId ?? '']);
    await circleWhen(stack, first as BuiltUser, id, { status: 'active' });
    for (const member of [first, second]) await contribute(stack, member as BuiltUser, id);
    await circleWhen(stack, first as BuiltUser, id, { status: 'completed' });
    expect((await remove(first as BuiltUser, id)).status).toBe(400);
    expect((await remove(owner, unknown)).status).toBe(404);
  });
});
