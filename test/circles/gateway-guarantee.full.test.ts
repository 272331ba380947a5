import { type BuiltUser, balanceOf } from '../support/build.ts';
import { expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { buildActiveCircle, circleWhen, contribute, heldBy } from './build-circle.ts';
import { openNextRound } from './end-interval.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const bca = 1;

describe('A guarantee paid by a virtual account', () => {
  it('A guarantee paid by virtual account is held from the first contribution to the last round', async () => {
    const terms = { guarantee_percent: 25 };
    const { id, members } = await buildActiveCircle(stack, 2, { round_interval: 'daily', terms });
    const [first, second] = members as [BuiltUser, BuiltUser];
    const settlement = async () =>
      (await stack.get(`/v1/saving-circles/${id}/settlement`, { token: second.token })).body.data;

    const { status, body } = await contribute(stack, first, id, { payment_id: bca });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      amount: '100000.0000',
      guarantee_amount: '25000.0000',
      status: 'pending',
      payment: { nominal: 125_000 },
    });
    expect((await settlement()).held).toBe('0.0000');
    await stack.sandbox.post('/sandbox/pay', { payment_code: body.payment.payment_code });
    await circleWhen(stack, second, id, { current_turn: 1 });
    expect((await contribute(stack, second, id)).body).toMatchObject({ guarantee_amount: '25000.0000' });
    await circleWhen(stack, second, id, { current_turn: 2 });
    expect(await heldBy(stack, id)).toBe('50000.0000');
    expect(await settlement()).toMatchObject({
      held: '50000.0000',
      members: [
        { paid: '100000.0000', guarantee: '25000.0000', received: '200000.0000', net_position: '-75000.0000' },
        { paid: '100000.0000', guarantee: '25000.0000', received: '0.0000', net_position: '125000.0000' },
      ],
    });

    await openNextRound(stack, id);
    await circleWhen(stack, second, id, { next_round_opens_at: null });
    const again = await contribute(stack, first, id, { payment_id: bca });
    expect(again.body).toMatchObject({ guarantee_amount: '0.0000', payment: { nominal: 100_000 } });
    await stack.sandbox.post('/sandbox/pay', { payment_code: again.body.payment.payment_code });
    expect((await contribute(stack, second, id)).status).toBe(201);
    await circleWhen(stack, second, id, { status: 'completed' });
    expect(await heldBy(stack, id)).toBe('0.0000');
    // The first member has paid 225,000 from outside, and has received a pot and the guarantee.
    expect(await balanceOf(stack, first.accountId)).toBe('1225000.0000');
    expect(await balanceOf(stack, second.accountId)).toBe('1000000.0000');
    expect(await settlement()).toMatchObject({ held: '0.0000', debts: [] });
  });
});
