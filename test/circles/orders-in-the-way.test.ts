import { payForMember } from '../../src/circles/pay-for-member.ts';
import { type BuiltUser, balanceOf, fund } from '../support/build.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { buildActiveCircle, contribute, contributionsOf, memberIdsOf, readCircle } from './build-circle.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

interface Opened {
  id: string;
  first: BuiltUser;
  second: BuiltUser;
  memberIds: string[];
}
async function activeCircle(fields: object = {}): Promise<Opened> {
  const { id, members } = await buildActiveCircle(stack, 2, fields);
  const [first, second] = members as [BuiltUser, BuiltUser];
  return { id, first, second, memberIds: await memberIdsOf(stack, id, members) };
}
/** Orders a contribution by the gateway and does not pay it. */
async function order(payer: BuiltUser, id: string, fields: object = {}) {
  const amount = (await readCircle(stack, payer, id)).amount;
  const { status, body } = await stack.post(
    '/v1/saving-circles/contribute',
    { saving_circle_id: id, contribution_amount: amount, payment_id: 1, ...fields },
    { token: payer.token },
  );
  expect([status, body]).toMatchObject([201, { status: 'pending' }]);
  const { body: shown } = await stack.get(`/v1/payments/orders/${body.payment_order_id}`, { token: payer.token });
  return shown.data as { payment_code: string };
}
const statusesOf = async (id: string) => (await contributionsOf(stack, id)).map(({ status }) => status).toSorted();

describe('An unpaid order for a contribution', () => {
  it('that somebody else made for a member does not keep the member from paying; its money goes back to whoever pays it', async () => {
    const { id, first, second, memberIds } = await activeCircle();
    const { payment_code } = await order(first, id, { on_behalf_of: memberIds[1] });
    const { status } = await contribute(stack, second, id);
    expect(status).toBe(201);
    expect(await statusesOf(id)).toEqual(['cancelled', 'completed']);
    const before = Number(await balanceOf(stack, first.accountId));
    const others = Number(await balanceOf(stack, second.accountId));
    await stack.sandbox.post('/sandbox/pay', { payment_code });
    expect(
      await eventually(
        () => statusesOf(id),
        (found) => found.includes('refunded'),
      ),
    ).toEqual(['completed', 'refunded']);
    expect(Number(await balanceOf(stack, first.accountId))).toBeGreaterThan(before);
    expect(Number(await balanceOf(stack, second.accountId))).toBe(others);
  });

  it('that somebody else made gives way with its guarantee, which the member pays beside their own contribution', async () => {
    const { id, first, second, memberIds } = await activeCircle({ terms: { guarantee_percent: 25 } });
    const { payment_code } = await order(first, id, { on_behalf_of: memberIds[1] });
    const { status, body } = await contribute(stack, second, id);
    expect([status, body]).toMatchObject([201, { guarantee_amount: '25000.0000' }]);
    expect(await balanceOf(stack, second.accountId)).toBe('875000.0000');
    await stack.sandbox.post('/sandbox/pay', { payment_code });
    await eventually(
      () => statusesOf(id),
      (found) => found.includes('refunded'),
    );
    expect(await balanceOf(stack, first.accountId)).toBe('1125000.0000');
  });

  it('does not shield its member from a debit they agreed to', async () => {
    const { id, first, memberIds } = await activeCircle();
    await order(first, id);
    await fund(stack, first.accountId, '1000000');
    const turn = (await readCircle(stack, first, id)).current_turn;
    const debit = { circleId: id, memberId: String(memberIds[0]), turn, sourceAccountId: null };
    expect(await payForMember(stack.em(), debit)).toBe(true);
    expect(await statusesOf(id)).toEqual(['cancelled', 'completed']);
  });
});
