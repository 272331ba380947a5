import { findProgress } from '../../src/circles/find-progress.ts';
import { type BuiltUser, buildIndividual, buildPlatformAdmin } from '../support/build.ts';
import { expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { move, onDay, opened } from './begin-circle.ts';
import { addMembers, balancesOf, memberIdsOf, readCircle } from './build-circle.ts';

let stack: Stack;
/** Temporal is down, so that only the test runs steps. */
beforeAll(async () => {
  stack = await startStack({ isImpatient: true, env: { TEMPORAL_ADDRESS: '127.0.0.1:1' } });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const patch = (as: BuiltUser, id: string, body: object) =>
  stack.patch(`/v1/saving-circles/${id}`, body, { token: as.token });
const join = (as: BuiltUser, id: string, fields: object = {}) =>
  stack.post('/v1/saving-circles/members', { saving_circle_id: id, ...fields }, { token: as.token });
const orderPath = (id: string, memberId: string | undefined) =>
  `/v1/saving-circles/${id}/members/${memberId}/standing-order`;
const stand = (as: BuiltUser, id: string, memberId: string | undefined) =>
  stack.put(orderPath(id, memberId), { source_account_id: as.accountId }, { token: as.token });
const people = (count: number) =>
  Promise.all(Array.from({ length: count }, () => buildIndividual(stack, { balance: '1000000' })));
const start = (circleId: string) => move(stack, circleId, onDay(0));
const earlier = onDay(-1);
const later = onDay(1);

describe('A circle that someone other than its creator has joined', () => {
  it('Amount, first turn, terms and an earlier start are rejected once others have joined', async () => {
    const [creator, other] = (await people(2)) as [BuiltUser, BuiltUser];
    const id = await opened(stack, creator, {});
    expect((await join(other, id)).status).toBe(201);
    const before = await readCircle(stack, creator, id);
    for (const as of [creator, await buildPlatformAdmin(stack)]) {
      for (const [field, value] of [
        ['amount', '1500000'],
        ['amount', '1'],
        ['current_turn', 3],
        ['start_date', earlier],
        ['start_date', new Date(Date.now() + 2_000).toISOString()],
        ['terms', { grace_days: 9 }],
      ] as const) {
        const { status, body } = await patch(as, id, { name: 'New name', [field]: value });
        expect([status, body.message]).toEqual([400, expect.stringMatching(new RegExp(`^${field}: `))]);
      }
    }
    expect(await readCircle(stack, creator, id)).toEqual(before);
  });

  it('Name, visibility, capacity and a later start can change after others have joined', async () => {
    const [creator, other] = (await people(2)) as [BuiltUser, BuiltUser];
    const id = await opened(stack, creator, {});
    for (const member of [creator, other]) expect((await join(member, id)).status).toBe(201);
    const { start_date, amount, current_turn, terms } = await readCircle(stack, creator, id);
    const change = { name: 'New name', visibility: 'private', capacity: 3, start_date: later };
    expect(await patch(creator, id, change)).toMatchObject({ status: 200, body: { data: change } });
    expect((await patch(creator, id, { start_date })).status).toBe(400);
    expect((await patch(creator, id, { capacity: 1 })).status).toBe(400);
    expect((await patch(creator, id, { amount, current_turn, terms, start_date: later })).status).toBe(200);
  });

  it('A creator who is the only member can change amount, turn and start, even after others have left', async () => {
    const [creator, other] = (await people(2)) as [BuiltUser, BuiltUser];
    const id = await opened(stack, creator, {});
    const change = { amount: '50000.0000', current_turn: 2, start_date: earlier };
    expect((await join(creator, id)).status).toBe(201);
    expect(await patch(creator, id, change)).toMatchObject({ status: 200, body: { data: change } });
    expect(await readCircle(stack, other, id)).toMatchObject(change);
    expect((await join(other, id)).status).toBe(201);
    expect((await patch(creator, id, { current_turn: 1 })).status).toBe(400);
    const [, place] = await memberIdsOf(stack, id, [creator, other]);
    const gone = await stack.delete(`/v1/saving-circles/${id}/members/${place}`, undefined, { token: other.token });
    expect(gone.status).toBe(200);
    expect((await patch(creator, id, { current_turn: 1 })).status).toBe(200);
  });

  it('The database rejects changes of amount, turn, terms or interval after others have joined', async () => {
    const [creator, other] = (await people(2)) as [BuiltUser, BuiltUser];
    const id = await opened(stack, creator, {});
    expect((await join(other, id)).status).toBe(201);
    for (const change of ['amount = 5', 'current_turn = 2', "on_default = 'exclude'", "round_interval = 'weekly'"]) {
      const changing = stack.owner().execute(`update saving_circles set ${change} where id = ?`, [id]);
      await expect(changing).rejects.toThrow('amount, terms, first turn, interval and turn order cannot change');
    }
  });

  it('A change and a join are serialized, so that nobody joins a circle that then changes', async () => {
    const [creator, ...others] = (await people(6)) as [BuiltUser, ...BuiltUser[]];
    for (const other of others) {
      const id = await opened(stack, creator, {});
      const [changed, joined] = await Promise.all([patch(creator, id, { amount: '900000' }), join(other, id)]);
      expect(joined.status).toBe(201);
      const { rows } = await changedAfterJoining(id);
      expect([changed.status, rows]).toEqual([changed.status === 200 ? 200 : 400, 0]);
    }
  });
});

/** Counts changes of the amount after a member joined. */
async function changedAfterJoining(id: string): Promise<{ rows: number }> {
  const [found] = await stack.em().execute<[{ rows: number }]>(
    `select count(*)::int as rows from events changed join events joined on joined.resource_id = changed.resource_id
     where changed.resource_id = ? and jsonb_exists(changed.data -> 'fields', 'amount')
       and jsonb_exists(joined.data, 'members_added') and joined.id < changed.id`,
    [id],
  );
  return found;
}

describe('A standing order', () => {
  it('A standing order names the amount it pays, and the guarantee until that is paid', async () => {
    const [creator, other] = (await people(2)) as [BuiltUser, BuiltUser];
    const id = await opened(stack, creator, { guarantee_percent: 25 });
    expect((await addMembers(stack, creator, id, [creator, other])).status).toBe(201);
    const [, place] = await memberIdsOf(stack, id, [creator, other]);
    const named = { member_id: place, amount: '100000.0000', guarantee_amount: '25000.0000' };
    expect(await stand(other, id, place)).toMatchObject({ status: 200, body: { data: named } });
    await start(id);
    await move(stack, id, onDay(0));
    expect(await balancesOf(stack, [creator, other])).toEqual([1_000_000, 875_000]);
    const without = { ...named, guarantee_amount: '0.0000' };
    expect(await stand(other, id, place)).toMatchObject({ status: 200, body: { data: without } });
    const ended = await stack.delete(orderPath(id, place), undefined, { token: other.token });
    expect(ended).toMatchObject({ status: 200, body: { data: without } });
  });

  it('A standing order debits nothing if the amount was raised after it was set', async () => {
    const [creator, other] = (await people(2)) as [BuiltUser, BuiltUser];
    const id = await opened(stack, creator, {});
    expect((await join(creator, id)).status).toBe(201);
    const [place] = await memberIdsOf(stack, id, [creator]);
    expect((await stand(creator, id, place)).status).toBe(200);
    expect((await patch(creator, id, { amount: '200000' })).status).toBe(200);
    expect((await join(other, id)).status).toBe(201);
    await start(id);
    await move(stack, id, onDay(0));
    expect(await balancesOf(stack, [creator])).toEqual([1_000_000]);
    expect(await findProgress(stack.em(), id)).toMatchObject({ round: { facts: { hasStandingOrders: false } } });
  });

  it.each([
    ['raises', 0, 100],
    ['lowers', 50, 25],
  ])('A standing order debits nothing if the creator %s the guarantee after setting it', async (_, agreed, changed) => {
    const [creator, other] = (await people(2)) as [BuiltUser, BuiltUser];
    const id = await opened(stack, creator, { guarantee_percent: agreed });
    expect((await join(creator, id)).status).toBe(201);
    const [place] = await memberIdsOf(stack, id, [creator]);
    expect((await stand(creator, id, place)).status).toBe(200);
    expect((await patch(creator, id, { terms: { guarantee_percent: changed } })).status).toBe(200);
    expect((await join(other, id)).status).toBe(201);
    await start(id);
    await move(stack, id, onDay(0));
    expect(await balancesOf(stack, [creator])).toEqual([1_000_000]);
  });
});
