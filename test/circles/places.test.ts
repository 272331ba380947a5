import { findProgress } from '../../src/circles/find-progress.ts';
import { newId } from '../../src/shared/ids.ts';
import { type BuiltUser, balanceOf, buildIndividual, buildPlatformAdmin } from '../support/build.ts';
import { expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { begun, move, onDay, passTime } from './begin-circle.ts';
import { contribute, eventsOf, readCircle } from './build-circle.ts';

let stack: Stack;
/** Temporal is down, so that only the test runs steps. */
beforeAll(async () => {
  stack = await startStack({ isImpatient: true, env: { TEMPORAL_ADDRESS: '127.0.0.1:1' } });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const propose = (as: BuiltUser, id: string, memberId: string | undefined, accountId: string) =>
  stack.post(
    `/v1/saving-circles/${id}/members/${memberId}/replacements`,
    { account_id: accountId },
    { token: as.token },
  );
const accept = (as: BuiltUser, id: string, replacementId: string, body: object = {}) =>
  stack.post(`/v1/saving-circles/${id}/replacements/${replacementId}/accept`, body, { token: as.token });

describe('A replacement', () => {
  it('A replacement proposed by the leaving member takes effect once the new member accepts', async () => {
    const { id, members, memberIds } = await begun(stack, 2, { on_default: 'winner_first' });
    const [first, second] = members as [BuiltUser, BuiltUser];
    const heir = await buildIndividual(stack, { balance: '1000000' });
    expect((await contribute(stack, second, id)).status).toBe(201);
    const proposed = await propose(second, id, memberIds[1], heir.accountId);
    expect(proposed).toMatchObject({ status: 201, body: { data: { status: 'pending', user_id: heir.id } } });
    const { id: replacementId } = proposed.body.data;
    expect((await accept(first, id, replacementId)).status).toBe(403);
    expect((await accept(await buildIndividual(stack), id, replacementId)).status).toBe(403);
    expect((await accept(first, id, newId())).status).toBe(404);
    const unwilling = await accept(heir, id, replacementId);
    expect(unwilling).toMatchObject({ status: 400, body: { message: expect.stringContaining('consent') } });
    for (const _ of [1, 2]) {
      expect(await accept(heir, id, replacementId, { consent: true })).toMatchObject({
        status: 200,
        body: { data: { status: 'completed' } },
      });
    }
    expect(await eventsOf(stack, 'MEMBER_REPLACED', id)).toMatchObject([
      { data: { member_id: memberIds[1], left_user_id: second.id, user_id: heir.id } },
    ]);
    expect((await readCircle(stack, first, id)).members[1]).toMatchObject({
      id: memberIds[1],
      account_id: heir.accountId,
      user_id: heir.id,
      turn_number: 2,
    });
    expect((await contribute(stack, heir, id)).status).toBe(400);
    expect((await contribute(stack, second, id)).status).toBe(403);
    expect((await contribute(stack, first, id)).status).toBe(201);
    await move(stack, id, onDay(0));
    await move(stack, id, onDay(1));
    for (const member of [first, heir]) expect((await contribute(stack, member, id)).status).toBe(201);
    await move(stack, id, onDay(1));
    expect(await balanceOf(stack, heir.accountId)).toBe('1100000.0000');
  });

  it('A place is never handed to a user who was suspended after accepting', async () => {
    const { id, members, memberIds } = await begun(stack, 2, {});
    const [creator, second] = members as [BuiltUser, BuiltUser];
    const heir = await buildIndividual(stack);
    const { body } = await propose(creator, id, memberIds[1], heir.accountId);
    expect(await accept(heir, id, body.data.id)).toMatchObject({ status: 200, body: { data: { status: 'pending' } } });
    const become = (status: string) =>
      stack.owner().execute('update users set status = ? where id = ?', [status, heir.id]);
    await become('suspended');
    expect(await accept(second, id, body.data.id)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('suspended') },
    });
    expect((await readCircle(stack, creator, id)).members[1]).toMatchObject({ user_id: second.id });
    await become('active');
    expect(await accept(second, id, body.data.id)).toMatchObject({
      status: 200,
      body: { data: { status: 'completed' } },
    });
  });

  it('A replacement proposed by the creator also needs the leaving member’s consent', async () => {
    const { id, members, memberIds } = await begun(stack, 2, {});
    const [creator, second] = members as [BuiltUser, BuiltUser];
    const heir = await buildIndividual(stack);
    const other = await buildIndividual(stack);
    expect((await propose(second, id, memberIds[0], heir.accountId)).status).toBe(403);
    expect((await propose(creator, id, newId(), heir.accountId)).status).toBe(404);
    expect((await propose(creator, id, memberIds[1], newId())).status).toBe(404);
    expect((await propose(creator, id, memberIds[1], creator.accountId)).status).toBe(400);
    const earlier = (await propose(creator, id, memberIds[1], other.accountId)).body.data.id;
    const { id: replacementId } = (await propose(creator, id, memberIds[1], heir.accountId)).body.data;
    expect((await accept(other, id, earlier)).status).toBe(400);
    expect((await accept(heir, id, replacementId)).body.data.status).toBe('pending');
    expect((await readCircle(stack, creator, id)).members[1].user_id).toBe(second.id);
    expect((await accept(second, id, replacementId)).body.data.status).toBe('completed');
    expect((await readCircle(stack, creator, id)).members[1].user_id).toBe(heir.id);
  });

  it('An open replacement is shown only to its proposer, both members and platform users', async () => {
    const { id, members, memberIds } = await begun(stack, 3, {});
    const [creator, second, third] = members as [BuiltUser, BuiltUser, BuiltUser];
    const heir = await buildIndividual(stack);
    const shownTo = async (as: BuiltUser) => (await readCircle(stack, as, id)).replacements;
    const { data } = (await propose(creator, id, memberIds[1], heir.accountId)).body;
    for (const concerned of [creator, second, heir, await buildPlatformAdmin(stack)]) {
      expect(await shownTo(concerned)).toEqual([data]);
    }
    for (const other of [third, await buildIndividual(stack)]) expect(await shownTo(other)).toEqual([]);
    expect((await accept(second, id, data.id)).status).toBe(200);
    expect(await shownTo(heir)).toMatchObject([{ id: data.id, accepted_by_leaving_at: expect.any(String) }]);
    expect((await accept(heir, id, data.id)).status).toBe(200);
    for (const concerned of [creator, heir]) expect(await shownTo(concerned)).toEqual([]);
  });

  it('A replacement is no longer shown once the place is closed', async () => {
    const { id, members, memberIds } = await begun(stack, 2, { on_default: 'exclude' });
    const [creator, second] = members as [BuiltUser, BuiltUser];
    expect((await propose(second, id, memberIds[1], (await buildIndividual(stack)).accountId)).status).toBe(201);
    await stack
      .owner()
      .execute('update saving_circle_members set excluded_turn = 1, turn_number = null where id = ?', [memberIds[1]]);
    expect((await readCircle(stack, second, id)).replacements).toEqual([]);
    await stack
      .owner()
      .execute('update saving_circle_members set excluded_turn = null, turn_number = 2 where id = ?', [memberIds[1]]);
    expect((await readCircle(stack, creator, id)).replacements).toEqual([]);
    expect((await readCircle(stack, second, id)).replacements).toHaveLength(1);
  });

  it('Proposing a replacement again keeps its consents; the leaving member consents by proposing it', async () => {
    const { id, members, memberIds } = await begun(stack, 2, {});
    const [creator, second] = members as [BuiltUser, BuiltUser];
    const heir = await buildIndividual(stack);
    const first = (await propose(creator, id, memberIds[1], heir.accountId)).body.data;
    const accepted = (await accept(heir, id, first.id)).body.data;
    expect(accepted.status).toBe('pending');
    expect((await propose(creator, id, memberIds[1], heir.accountId)).body.data).toEqual(accepted);
    expect((await propose(second, id, memberIds[1], heir.accountId)).body.data).toMatchObject({
      id: first.id,
      status: 'completed',
    });
    expect((await readCircle(stack, creator, id)).members[1].user_id).toBe(heir.id);
  });
});

describe('An agreement to a replacement', () => {
  it('An agreement to take over a place lapses once its pot is paid, so that nobody inherits its debts unawares', async () => {
    const { id, members, memberIds } = await begun(stack, 2, { on_default: 'winner_first' });
    const [first, second] = members as [BuiltUser, BuiltUser];
    const heir = await buildIndividual(stack, { balance: '1000000' });
    await stack.owner().execute('update saving_circles set created_by = ? where id = ?', [second.id, id]);
    const { id: replacementId } = (await propose(second, id, memberIds[0], heir.accountId)).body.data;
    const agreed = await accept(heir, id, replacementId, { consent: true });
    expect(agreed.body.data).toMatchObject({ status: 'pending', accepted_by_new_at: expect.any(String) });
    for (const member of members) expect((await contribute(stack, member, id)).status).toBe(201);
    await move(stack, id, onDay(0));
    expect(await balanceOf(stack, first.accountId)).toBe('1100000.0000');
    const afterwards = await accept(first, id, replacementId);
    expect(afterwards.body.data).toMatchObject({ status: 'pending', accepted_by_new_at: null });
    expect((await readCircle(stack, first, id)).members[0].user_id).toBe(first.id);
    expect((await accept(heir, id, replacementId, { consent: true })).body.data.status).toBe('completed');
  });

  it('An agreement lapses once guarantees cover a contribution of the place, and outlasts other pots', async () => {
    const { id, members, memberIds } = await begun(stack, 3, { on_default: 'cover', guarantee_percent: 100 });
    const [creator, second, third] = members as [BuiltUser, BuiltUser, BuiltUser];
    for (const member of members) expect((await contribute(stack, member, id)).status).toBe(201);
    const heirs = [await buildIndividual(stack), await buildIndividual(stack)] as const;
    const agreements = async () =>
      (await readCircle(stack, await buildPlatformAdmin(stack), id)).replacements.map(
        ({ accepted_by_new_at }: { accepted_by_new_at: string | null }) => accepted_by_new_at !== null,
      );
    for (const [index, heir] of heirs.entries()) {
      const { id: replacementId } = (await propose(creator, id, memberIds[index + 1], heir.accountId)).body.data;
      expect((await accept(heir, id, replacementId)).status).toBe(200);
    }
    await move(stack, id, onDay(0));
    expect(await agreements()).toEqual([true, true]);
    await move(stack, id, onDay(1));
    for (const member of [creator, second]) expect((await contribute(stack, member, id)).status).toBe(201);
    await passTime(stack, id, onDay(2));
    expect(await agreements()).toEqual([false, false]);
    expect((await readCircle(stack, third, id)).current_turn).toBe(3);
  });
});

describe('A person offered a place', () => {
  it('Someone offered a place reads a private circle’s terms and turns until someone else is offered it', async () => {
    const { id, members, memberIds } = await begun(stack, 2, { on_default: 'exclude', guarantee_percent: 10 });
    const [creator, second] = members as [BuiltUser, BuiltUser];
    await stack.owner().execute(`update saving_circles set visibility = 'private' where id = ?`, [id]);
    const [heir, other] = [await buildIndividual(stack), await buildIndividual(stack)];
    const read = (as: BuiltUser, part = '') => stack.get(`/v1/saving-circles/${id}${part}`, { token: as.token });
    expect((await read(heir)).status).toBe(403);
    expect((await propose(creator, id, memberIds[1], heir.accountId)).status).toBe(201);
    const { status, body } = await read(heir);
    expect(status).toBe(200);
    expect(body.saving_circle).toMatchObject({
      account_id: null,
      amount: '100000.0000',
      terms: { on_default: 'exclude', guarantee_percent: 10 },
      members: [
        { turn_number: 1, account_id: null },
        { turn_number: 2, account_id: null },
      ],
      contribution_summary: { missing_user_ids: null },
    });
    for (const part of ['/settlement', '/contributions', '/draw']) expect((await read(heir, part)).status).toBe(403);
    expect((await read(other)).status).toBe(403);
    const { id: replacementId } = (await propose(second, id, memberIds[1], other.accountId)).body.data;
    expect((await read(heir)).status).toBe(403);
    expect((await accept(other, id, replacementId)).status).toBe(200);
    expect((await read(other, '/settlement')).status).toBe(200);
    expect((await read(second)).status).toBe(403);
  });
});

describe('A standing order', () => {
  const order = (as: BuiltUser, id: string, memberId: string | undefined, accountId: string) =>
    stack.put(
      `/v1/saving-circles/${id}/members/${memberId}/standing-order`,
      { source_account_id: accountId },
      { token: as.token },
    );
  const end = (as: BuiltUser, id: string, memberId: string | undefined) =>
    stack.delete(`/v1/saving-circles/${id}/members/${memberId}/standing-order`, undefined, { token: as.token });

  it('A standing order pays the next round once unless the balance is too small, and can be stopped', async () => {
    const { id, members, memberIds } = await begun(stack, 3, {}, ['1000000', '1000000', '150000']);
    const [first, second, third] = members as [BuiltUser, BuiltUser, BuiltUser];
    for (const [index, member] of [second, third].entries()) {
      expect(await order(member, id, memberIds[index + 1], member.accountId)).toMatchObject({
        status: 200,
        body: { data: { member_id: memberIds[index + 1], source_account_id: member.accountId } },
      });
    }
    // The standing orders do not pay the round that is already open.
    expect(await findProgress(stack.em(), id)).toMatchObject({ round: { facts: { hasStandingOrders: false } } });
    for (const member of members) expect((await contribute(stack, member, id)).status).toBe(201);
    await move(stack, id, onDay(0));
    await move(stack, id, onDay(1));
    expect(await findProgress(stack.em(), id)).toMatchObject({ round: { facts: { hasStandingOrders: true } } });
    await Promise.all([move(stack, id, onDay(1)), move(stack, id, onDay(1))]);
    expect(await findProgress(stack.em(), id)).toMatchObject({
      round: { missing: 2, missingUserIds: [first.id, third.id], facts: { hasStandingOrders: false } },
    });
    expect(await balanceOf(stack, second.accountId)).toBe('800000.0000');
    expect(await balanceOf(stack, third.accountId)).toBe('50000.0000');
    expect((await end(second, id, memberIds[1])).status).toBe(200);
    expect((await end(second, id, memberIds[1])).status).toBe(404);
  });

  it('Only the member may create a standing order, from an account of their own', async () => {
    const { id, members, memberIds } = await begun(stack, 2, {});
    const [creator, second] = members as [BuiltUser, BuiltUser];
    expect((await order(creator, id, memberIds[1], creator.accountId)).status).toBe(403);
    expect((await order(second, id, memberIds[1], creator.accountId)).status).toBe(403);
    expect((await order(second, id, memberIds[1], newId())).status).toBe(404);
    expect((await order(creator, id, newId(), creator.accountId)).status).toBe(404);
    expect((await end(creator, id, memberIds[1])).status).toBe(403);
  });
});
