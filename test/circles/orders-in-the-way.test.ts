import { payForMember } from '../../src/circles/standing-orders.ts';
import { sweepCircles } from '../../src/circles/sweep-circles.ts';
import { type BuiltUser, balanceOf, buildIndividual, buildPlatformAdmin, fund } from '../support/build.ts';
import { casesOf } from '../support/full.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { buildActiveCircle, contribute, contributionsOf, memberIdsOf, readCircle } from './build-circle.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
afterEach(() => stack.sandbox.put('/sandbox/faults', {}));

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
interface Ordered {
  payment_order_id: string;
  payment_code: string;
}
/** Orders a gateway contribution and does not pay it. */
async function order(payer: BuiltUser, id: string, fields: object = {}): Promise<Ordered> {
  const amount = (await readCircle(stack, payer, id)).amount;
  const { status, body } = await stack.post(
    '/v1/saving-circles/contribute',
    { saving_circle_id: id, contribution_amount: amount, payment_id: 1, ...fields },
    { token: payer.token },
  );
  expect([status, body]).toMatchObject([201, { status: 'pending' }]);
  const { body: shown } = await stack.get(`/v1/payments/orders/${body.payment_order_id}`, { token: payer.token });
  return shown.data;
}
const statusesOf = async (id: string) => (await contributionsOf(stack, id)).map(({ status }) => status).toSorted();
const statusOf = async (payer: BuiltUser, { payment_order_id }: Ordered): Promise<string> =>
  (await stack.get(`/v1/payments/orders/${payment_order_id}`, { token: payer.token })).body.data.status;
/** Waits until an order can no longer be paid, here and at the provider. */
async function whenEnded(payer: BuiltUser, ordered: Ordered): Promise<void> {
  await eventually(
    () => statusOf(payer, ordered),
    (status) => status === 'EXPIRED',
  );
  const { payments } = (await stack.sandbox.get(`/sandbox/records?reference_id=${ordered.payment_order_id}`)).body;
  expect(payments).toMatchObject([{ status: 'EXPIRED' }]);
}
const replace = async (leaving: BuiltUser, heir: BuiltUser, id: string, memberId: string | undefined) => {
  const path = `/v1/saving-circles/${id}`;
  const proposal = { account_id: heir.accountId };
  const proposed = await stack.post(`${path}/members/${memberId}/replacements`, proposal, { token: leaving.token });
  const accepted = await stack.post(
    `${path}/replacements/${proposed.body.data.id}/accept`,
    {},
    {
      token: heir.token,
    },
  );
  expect(accepted).toMatchObject({ status: 200, body: { data: { status: 'completed' } } });
};

describe('An unpaid order for a contribution', () => {
  it.each(casesOf(['by an order of their own', 'from a balance']))(
    'An unpaid order that someone else created for a member is cancelled when the member contributes %s',
    async (how) => {
      const { id, first, second, memberIds } = await activeCircle({ terms: { guarantee_percent: 25 } });
      const given = await order(first, id, { on_behalf_of: memberIds[1] });
      if (how === 'from a balance') {
        const { status, body } = await contribute(stack, second, id);
        expect([status, body]).toMatchObject([201, { guarantee_amount: '25000.0000' }]);
        expect(await balanceOf(stack, second.accountId)).toBe('875000.0000');
      } else await order(second, id);
      expect(await statusesOf(id)).toEqual(['cancelled', how === 'from a balance' ? 'completed' : 'pending']);
      await whenEnded(first, given);
    },
  );

  it('An unpaid order is cancelled when its member is replaced or its circle is cancelled', async () => {
    const { id, members } = await buildActiveCircle(stack, 3);
    const [first, second, third] = members as [BuiltUser, BuiltUser, BuiltUser];
    const memberIds = await memberIdsOf(stack, id, members);
    const given = await order(first, id, { on_behalf_of: memberIds[1] });
    const [leaving, staying] = [await order(third, id), await order(first, id)];
    await replace(second, await buildIndividual(stack), id, memberIds[1]);
    await replace(third, await buildIndividual(stack), id, memberIds[2]);
    await whenEnded(first, given);
    await whenEnded(third, leaving);
    expect(await statusOf(first, staying)).toBe('WAITING_PAYMENT');
    const { token } = await buildPlatformAdmin(stack);
    expect((await stack.post(`/v1/saving-circles/${id}/cancel`, undefined, { token })).status).toBe(200);
    await whenEnded(first, staying);
  });

  it('The sweep cancels an unpaid order that nothing else cancelled', async () => {
    const { id, first } = await activeCircle();
    const own = await order(first, id);
    const giveWay =
      "update saving_circle_contributions set status = 'cancelled', updated_at = now() - interval '2 minutes'";
    await stack.owner().execute(`${giveWay} where payment_order_id = ?`, [own.payment_order_id]);
    await sweepCircles(stack.em(), stack.deps.workflows, (_, __, cause) => {
      throw cause;
    });
    await whenEnded(first, own);
  });

  it('An order found to be paid while it is being cancelled is refunded to its payer', async () => {
    const { id, first, second, memberIds } = await activeCircle();
    const given = await order(first, id, { on_behalf_of: memberIds[1] });
    await stack.sandbox.put('/sandbox/faults', { callbacks: { drop: true } });
    await stack.sandbox.post('/sandbox/pay', { payment_code: given.payment_code });
    expect((await contribute(stack, second, id)).status).toBe(201);
    await eventually(
      () => statusesOf(id),
      (found) => found.includes('refunded'),
    );
    expect(await statusOf(first, given)).toBe('PAID');
    expect(await balanceOf(stack, first.accountId)).toBe('1100000.0000');
    expect(await balanceOf(stack, second.accountId)).toBe('900000.0000');
    const cancelled = 'select 1 from payment_orders where id = ? and cancelled_at is not null';
    expect(await stack.em().execute(cancelled, [given.payment_order_id])).toEqual([]);
  });

  it('A member is not debited while an order for the contribution is open', async () => {
    const { id, first, memberIds } = await activeCircle();
    await order(first, id);
    await fund(stack, first.accountId, '1000000');
    const turn = (await readCircle(stack, first, id)).current_turn;
    const debit = { circleId: id, memberId: String(memberIds[0]), turn, sourceAccountId: null };
    await payForMember(stack.em(), debit);
    expect(await statusesOf(id)).toEqual(['pending']);
  });
});
