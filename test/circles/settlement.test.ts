import fc from 'fast-check';
import { settle } from '../../src/circles/settlement.ts';
import { addMoney, compareMoney, negateMoney } from '../../src/shared/money.ts';
import { type BuiltUser, buildIndividual, buildOrganizationAdmin, buildPlatformAdmin } from '../support/build.ts';
import { itInFull } from '../support/full.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { buildActiveCircle, circleWhen, contribute, createCircle, heldBy } from './build-circle.ts';

const unknown = '0197a000-0000-7000-8000-000000000000';

describe('The balance among members', () => {
  const rupiah = fc.integer({ min: 0, max: 5_000_000 }).map(String);
  const accounts = fc.uniqueArray(
    fc.record({ member_id: fc.uuid(), account_id: fc.uuid(), paid: rupiah, guarantee: rupiah, received: rupiah }),
    { selector: ({ member_id }) => member_id, minLength: 1, maxLength: 20 },
  );
  /** The same members with a last one who received or paid the difference, so that the circle holds nothing. */
  const even = accounts.map((all) => {
    const held = settle(all, { hasEnded: true }).held;
    const isOver = compareMoney(held, '0') > 0;
    const last = { member_id: unknown, account_id: unknown, guarantee: '0' };
    return [...all, { ...last, paid: isOver ? '0' : negateMoney(held), received: isOver ? held : '0' }];
  });

  it('Members’ balances sum to the held amount, and an active circle shows no debts', () => {
    fc.assert(
      fc.property(accounts, (all) => {
        const { members, held, debts } = settle(all, { hasEnded: false });
        expect(addMoney(held, ...all.map(({ received }) => received))).toBe(
          addMoney(...all.flatMap(({ paid, guarantee }) => [paid, guarantee])),
        );
        expect(addMoney(...members.map(({ net_position }) => net_position))).toBe(held);
        expect(debts).toEqual([]);
      }),
    );
  });

  it('Paying the debts of a cancelled circle settles every member, with fewer debts than members', () => {
    fc.assert(
      fc.property(even, (all) => {
        const { members, debts } = settle(all, { hasEnded: true });
        for (const { member_id, net_position } of members) {
          const owed = debts.filter(({ debtor_member_id }) => debtor_member_id === member_id);
          const due = debts.filter(({ creditor_member_id }) => creditor_member_id === member_id);
          const change = [...owed.map(({ amount }) => amount), ...due.map(({ amount }) => negateMoney(amount))];
          expect(addMoney(net_position, ...change)).toBe('0.0000');
          expect(owed.length * due.length).toBe(0);
        }
        expect(debts.every(({ amount }) => compareMoney(amount, '0') > 0)).toBe(true);
        expect(debts.length).toBeLessThan(members.length);
      }),
    );
  });
});

describe('GET /v1/saving-circles/:id/settlement', () => {
  let stack: Stack;
  let platform: BuiltUser;
  beforeAll(async () => {
    stack = await startStack({ worker: true });
    platform = await buildPlatformAdmin(stack);
  }, 60_000);
  afterAll(async () => {
    await expectChecksEmpty(stack);
    await stack.stop();
  });

  const settlement = (as: BuiltUser, id: string) =>
    stack.get(`/v1/saving-circles/${id}/settlement`, { token: as.token });
  const row = (position: string, paid: string, received: string) => ({
    member_id: expect.any(String),
    account_id: expect.any(String),
    paid,
    guarantee: '0.0000',
    received,
    net_position: position,
  });

  it('A settlement follows the circle’s money and shows who owes whom after its cancellation', async () => {
    const { id, members } = await buildActiveCircle(stack, 3, { round_interval: 'daily' });
    const [first, second, third] = members as [BuiltUser, BuiltUser, BuiltUser];
    for (const member of [first, second]) expect((await contribute(stack, member, id)).status).toBe(201);
    const halfway = (await settlement(first, id)).body.data;
    expect(halfway).toEqual({
      members: [
        row('100000.0000', '100000.0000', '0.0000'),
        row('100000.0000', '100000.0000', '0.0000'),
        row('0.0000', '0.0000', '0.0000'),
      ],
      held: await heldBy(stack, id),
      debts: [],
    });
    expect(halfway.members.map(({ account_id }: { account_id: string }) => account_id)).toEqual(
      members.map(({ accountId }) => accountId),
    );

    expect((await contribute(stack, third, id)).status).toBe(201);
    const paidOut = await eventually(
      async () => (await settlement(third, id)).body.data,
      ({ held }) => held === '0.0000',
    );
    expect(paidOut.debts).toEqual([]);
    await circleWhen(stack, first, id, { current_turn: 2 });

    expect(await stack.post(`/v1/saving-circles/${id}/cancel`, undefined, { token: platform.token })).toMatchObject({
      status: 200,
    });
    const [debtor, ...creditors] = paidOut.members.map(({ member_id }: { member_id: string }) => member_id);
    expect((await settlement(platform, id)).body.data).toEqual({
      members: [
        row('-200000.0000', '100000.0000', '300000.0000'),
        row('100000.0000', '100000.0000', '0.0000'),
        row('100000.0000', '100000.0000', '0.0000'),
      ],
      held: '0.0000',
      debts: creditors.map((creditor: string) => ({
        debtor_member_id: debtor,
        creditor_member_id: creditor,
        amount: '100000.0000',
      })),
    });
  });

  itInFull('A circle cancelled in its first round leaves no debts', async () => {
    const { id, members } = await buildActiveCircle(stack, 2);
    const [first] = members as [BuiltUser];
    expect((await contribute(stack, first, id)).status).toBe(201);
    expect((await settlement(first, id)).body.data.held).toBe('100000.0000');
    expect(await stack.post(`/v1/saving-circles/${id}/cancel`, undefined, { token: platform.token })).toMatchObject({
      status: 200,
    });
    expect((await settlement(first, id)).body.data).toEqual({
      members: members.map(() => row('0.0000', '0.0000', '0.0000')),
      held: '0.0000',
      debts: [],
    });
  });

  it('A settlement is visible only to members, the creator and platform users', async () => {
    const creator = await buildIndividual(stack);
    const { id } = await createCircle(stack, creator, { visibility: 'public' });
    const nobody = { members: [], held: '0.0000', debts: [] };
    expect((await settlement(creator, id)).body.data).toEqual(nobody);
    expect((await settlement(platform, id)).body.data).toEqual(nobody);
    expect((await settlement(await buildIndividual(stack), id)).status).toBe(403);
    expect((await settlement(await buildOrganizationAdmin(stack), id)).status).toBe(403);
    expect((await settlement(platform, unknown)).status).toBe(404);
  });
});
