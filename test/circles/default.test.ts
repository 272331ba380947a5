import { findProgress } from '../../src/circles/find-progress.ts';
import { newId } from '../../src/shared/ids.ts';
import { type BuiltUser, balanceOf, buildIndividual, buildPlatformAdmin } from '../support/build.ts';
import { itInFull } from '../support/full.ts';
import { expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { begun, move, onDay, passTime } from './begin-circle.ts';
import { addMembers, balancesOf, contribute, eventsOf, heldBy, readCircle } from './build-circle.ts';

let stack: Stack;
/** Temporal is down, so that only the test runs steps. */
beforeAll(async () => {
  stack = await startStack({ isImpatient: true, env: { TEMPORAL_ADDRESS: '127.0.0.1:1' } });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const pay = async (id: string, ...members: (BuiltUser | undefined)[]) => {
  for (const member of members) expect(await contribute(stack, member as BuiltUser, id)).toMatchObject({ status: 201 });
};
const payOut = (id: string, days: number) => move(stack, id, onDay(days));
const open = payOut;
const pass = (id: string, days: number) => passTime(stack, id, onDay(days));
const settlementOf = async (as: BuiltUser, id: string) =>
  (await stack.get(`/v1/saving-circles/${id}/settlement`, { token: as.token })).body.data;
const netsOf = async (as: BuiltUser, id: string) =>
  (await settlementOf(as, id)).members.map(({ net_position }: { net_position: string }) => Number(net_position));
const balances = (members: BuiltUser[]) => balancesOf(stack, members);

describe('A guarantee', () => {
  it('A guarantee is debited with the first contribution and returned after the last round', async () => {
    const { id, members } = await begun(stack, 2, { guarantee_percent: 25 });
    const [first, second] = members as [BuiltUser, BuiltUser];
    const made = await contribute(stack, first, id);
    expect(made).toMatchObject({ status: 201, body: { amount: '100000.0000', guarantee_amount: '25000.0000' } });
    expect((await contribute(stack, second, id, { contribution_amount: '125000' })).status).toBe(400);
    const paid = {
      reference_type: 'saving_circle_contribution',
      reference_id: id,
      source_account_id: second.accountId,
    };
    const direct = await stack.post('/v1/payments/balance', { ...paid, amount: 100_000 }, { token: second.token });
    expect(direct).toMatchObject({
      status: 201,
      body: { data: { amount: '125000.0000', new_balance: '875000.0000' } },
    });
    expect(await settlementOf(first, id)).toMatchObject({
      held: '250000.0000',
      members: [{ paid: '100000.0000', guarantee: '25000.0000', net_position: '125000.0000' }, {}],
    });
    await payOut(id, 0);
    expect(await heldBy(stack, id)).toBe('50000.0000');
    await open(id, 1);
    expect((await contribute(stack, first, id)).body.guarantee_amount).toBe('0.0000');
    await pay(id, second);
    await payOut(id, 1);
    expect(await balances(members)).toEqual([1_000_000, 1_000_000]);
    expect(await settlementOf(first, id)).toMatchObject({ held: '0.0000', debts: [] });
  });

  it('A first contribution is refused if the balance does not also cover the guarantee', async () => {
    const { id, members } = await begun(stack, 2, { guarantee_percent: 50 }, ['149999']);
    const [first] = members as [BuiltUser];
    expect(await contribute(stack, first, id)).toMatchObject({ status: 400 });
    expect(await balances([first])).toEqual([149_999]);
    expect(await heldBy(stack, id)).toBe('0.0000');
  });
});

describe('A member who does not pay', () => {
  it('A member who does not pay is reminded, reported overdue and in default, once each', async () => {
    const { id, members, memberIds } = await begun(stack, 2, { grace_days: 2, on_default: 'wait' });
    await pay(id, members[0]);
    const twice = async (days: number) => {
      await Promise.all([pass(id, days), pass(id, days)]);
    };
    await twice(0);
    await twice(1);
    expect(await eventsOf(stack, 'CONTRIBUTION_DUE', id)).toMatchObject([{ data: { member_id: memberIds[1] } }]);
    expect(await eventsOf(stack, 'CONTRIBUTION_OVERDUE', id)).toHaveLength(1);
    await twice(2.9);
    expect(await eventsOf(stack, 'MEMBER_DEFAULTED', id)).toEqual([]);
    await twice(3);
    await twice(9);
    const data = { turn_number: 1, member_id: memberIds[1], user_id: members[1]?.id, on_default: 'wait' };
    expect(await eventsOf(stack, 'MEMBER_DEFAULTED', id)).toMatchObject([{ data }]);
    expect(await findProgress(stack.em(), id)).toMatchObject({ phase: 'collecting', round: { missing: 1 } });
  });
});

describe('Under `cover`', () => {
  it('Under `cover`, guarantees complete the pot, and the defaulter owes the others the amount', async () => {
    const { id, members, memberIds } = await begun(stack, 3, { on_default: 'cover', guarantee_percent: 50 });
    const [first, second, third] = members as [BuiltUser, BuiltUser, BuiltUser];
    await pay(id, ...members);
    await payOut(id, 0);
    await open(id, 1);
    await pay(id, second, third);
    expect(await pass(id, 2)).toMatchObject({ phase: 'between rounds' });
    expect(await balanceOf(stack, second.accountId)).toBe('1050000.0000');
    const [a, b, c] = memberIds;
    const stood = await settlementOf(first, id);
    expect(stood).toMatchObject({
      held: '50000.0000',
      debts: [
        { debtor_member_id: a, creditor_member_id: b, amount: '25000.0000' },
        { debtor_member_id: a, creditor_member_id: c, amount: '25000.0000' },
      ],
    });
    expect(stood.members.map(({ net_position }: { net_position: string }) => Number(net_position))).toEqual([
      -150_000, -50_000, 250_000,
    ]);
    await open(id, 2);
    await pay(id, ...members);
    await payOut(id, 2);
    // The first member has paid twice and received once; the rest is distributed to the others.
    expect(await balances(members)).toEqual([1_050_000, 975_000, 975_000]);
    expect((await settlementOf(first, id)).debts).toEqual([
      { debtor_member_id: a, creditor_member_id: b, amount: '25000.0000' },
      { debtor_member_id: a, creditor_member_id: c, amount: '25000.0000' },
    ]);
  });

  it('Under `cover`, a round waits until the guarantees suffice', async () => {
    const { id, members } = await begun(stack, 3, { on_default: 'cover', guarantee_percent: 60 });
    const [first, second] = members as [BuiltUser, BuiltUser];
    await pay(id, first);
    expect(await pass(id, 2)).toMatchObject({
      phase: 'collecting',
      round: { missing: 2, facts: { remedy: 'wait' } },
    });
    expect(await heldBy(stack, id)).toBe('160000.0000');
    await pay(id, second);
    expect(await findProgress(stack.em(), id)).toMatchObject({ round: { missing: 1, facts: { remedy: 'cover' } } });
    expect(await pass(id, 2)).toMatchObject({ phase: 'between rounds' });
    expect(await heldBy(stack, id)).toBe('20000.0000');
    expect(await eventsOf(stack, 'MEMBER_DEFAULTED', id)).toHaveLength(2);
  });
});

describe('Under `exclude`', () => {
  it('Under `exclude`, the defaulter loses the place and is refunded after the last round', async () => {
    const { id, members, memberIds } = await begun(stack, 4, { on_default: 'exclude', guarantee_percent: 100 });
    const [first, second, third, fourth] = members as [BuiltUser, BuiltUser, BuiltUser, BuiltUser];
    await pay(id, ...members);
    await payOut(id, 0);
    await open(id, 1);
    await pay(id, first, third, fourth);
    expect(await pass(id, 2)).toMatchObject({ phase: 'between rounds', turn: 3, lastTurn: 3, members: 3 });
    expect(await balanceOf(stack, third.accountId)).toBe('1000000.0000');
    const { members: shown } = await readCircle(stack, first, id);
    expect(
      shown.map(({ id: member, turn_number, excluded_turn }: Record<string, unknown>) => [
        member,
        turn_number,
        excluded_turn,
      ]),
    ).toEqual([
      [memberIds[0], 1, null],
      [memberIds[2], 2, null],
      [memberIds[3], 3, null],
      [memberIds[1], null, 2],
    ]);
    await open(id, 2);
    expect((await contribute(stack, second, id)).status).toBe(403);
    await pay(id, first, third, fourth);
    expect(await payOut(id, 2)).toEqual({ phase: 'ended', status: 'completed' });
    // The first member received a pot of four and has paid three times; the second paid once.
    expect(await balances(members)).toEqual([1_000_000, 1_000_000, 1_000_000, 1_000_000]);
    expect((await settlementOf(first, id)).debts).toEqual([]);
  });

  itInFull('Under `exclude`, a member who received more than they paid owes the excluded member’s refund', async () => {
    const { id, members, memberIds } = await begun(stack, 4, { on_default: 'exclude', guarantee_percent: 50 });
    const [first, , third, fourth] = members as [BuiltUser, BuiltUser, BuiltUser, BuiltUser];
    await pay(id, ...members);
    await payOut(id, 0);
    for (const day of [1, 2]) {
      await open(id, day);
      await pay(id, first, third, fourth);
      if (day === 1) await pass(id, 2);
      else await payOut(id, 2);
    }
    // The first member received 400,000 and paid 300,000: the guarantee pays 50,000 of the difference, the rest is a
    // debt.
    expect(await balances(members)).toEqual([1_050_000, 950_000, 1_000_000, 1_000_000]);
    expect((await settlementOf(first, id)).debts).toEqual([
      { debtor_member_id: memberIds[0], creditor_member_id: memberIds[1], amount: '50000.0000' },
    ]);
  });

  it('Under `exclude`, a circle whose last recipient is excluded completes with refunds', async () => {
    const { id, members } = await begun(stack, 2, { on_default: 'exclude' });
    const [first] = members as [BuiltUser];
    await pay(id, ...members);
    await payOut(id, 0);
    await open(id, 1);
    await pay(id, first);
    expect(await pass(id, 2)).toEqual({ phase: 'ended', status: 'completed' });
    expect(await balances(members)).toEqual([1_000_000, 1_000_000]);
  });

  it('Under `exclude`, no member is excluded from a round that no one has paid', async () => {
    const { id } = await begun(stack, 2, { on_default: 'exclude' });
    expect(await pass(id, 2)).toMatchObject({ phase: 'collecting', round: { missing: 2 } });
  });
});

describe('Under `winner_first`', () => {
  it('Under `winner_first`, a member who has received the pot is debited daily until paid', async () => {
    const { id, members } = await begun(stack, 3, { on_default: 'winner_first' }, ['100000']);
    const [first, second, third] = members as [BuiltUser, BuiltUser, BuiltUser];
    await pay(id, ...members);
    await payOut(id, 0);
    await open(id, 1);
    await stack.em().execute(`update users set status = 'suspended' where id = ?`, [first.id]);
    await pay(id, third);
    expect(await pass(id, 2)).toMatchObject({ phase: 'collecting', round: { missing: 2 } });
    expect(await balances([first])).toEqual([300_000]);
    await stack.em().execute(`update users set status = 'active' where id = ?`, [first.id]);
    expect(await pass(id, 2.5)).toMatchObject({ round: { missing: 2 } });
    expect(await pass(id, 3)).toMatchObject({ round: { missing: 1, missingUserIds: [second.id] } });
    expect(await balances([first, second])).toEqual([200_000, 900_000]);
    await Promise.all([pass(id, 4), pass(id, 4), pass(id, 5)]);
    expect(await balances([first, second])).toEqual([200_000, 900_000]);
  });

  it('Under `winner_first`, someone who does not manage the circle cannot add members', async () => {
    const creator = await buildIndividual(stack);
    const { id } = await begun(stack, 2, { on_default: 'winner_first' });
    expect((await addMembers(stack, creator, id, [creator])).status).toBe(403);
  });
});

describe('Paying for another', () => {
  it('A contribution paid for another member counts as that member’s', async () => {
    const { id, members, memberIds } = await begun(stack, 2, { guarantee_percent: 10 });
    const [first, second] = members as [BuiltUser, BuiltUser];
    const made = await contribute(stack, first, id, { on_behalf_of: memberIds[1] });
    expect(made).toMatchObject({
      status: 201,
      body: { user_id: first.id, member_id: memberIds[1], guarantee_amount: '10000.0000' },
    });
    expect((await contribute(stack, second, id)).status).toBe(400);
    expect(await netsOf(first, id)).toEqual([0, 110_000]);
    expect((await contribute(stack, first, id, { on_behalf_of: newId() })).status).toBe(404);
    const stranger = await buildIndividual(stack, { balance: '500000' });
    expect((await contribute(stack, stranger, id, { on_behalf_of: memberIds[0] })).status).toBe(403);
    const list = await stack.get(`/v1/saving-circles/${id}/contributions`, { token: second.token });
    expect(list.body.data.items).toMatchObject([{ user_id: first.id }]);
    await pay(id, first);
    expect(await findProgress(stack.em(), id)).toMatchObject({ round: { missing: 0 } });
  });
});

describe('Cancelling', () => {
  it('Cancelling a circle refunds the open round, shares the held money and records debts', async () => {
    const { id, members, memberIds } = await begun(stack, 3, { guarantee_percent: 30 });
    const [first, second, third] = members as [BuiltUser, BuiltUser, BuiltUser];
    await pay(id, ...members);
    await payOut(id, 0);
    await open(id, 1);
    await pay(id, second);
    const platform = await buildPlatformAdmin(stack);
    expect(await stack.post(`/v1/saving-circles/${id}/cancel`, undefined, { token: platform.token })).toMatchObject({
      status: 200,
    });
    // The first member owes 170,000; the circle holds 90,000 for the two others, who have claims of 130,000 each.
    expect(await balances(members)).toEqual([1_170_000, 915_000, 915_000]);
    expect(await settlementOf(third, id)).toMatchObject({
      held: '0.0000',
      debts: [
        { debtor_member_id: memberIds[0], creditor_member_id: memberIds[1], amount: '85000.0000' },
        { debtor_member_id: memberIds[0], creditor_member_id: memberIds[2], amount: '85000.0000' },
      ],
    });
    expect(await netsOf(first, id)).toEqual([-170_000, 85_000, 85_000]);
  });
});
