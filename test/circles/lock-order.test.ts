import { moveCircle } from '../../src/circles/move-circle.ts';
import { payForMember } from '../../src/circles/standing-orders.ts';
import { settlePayment } from '../../src/money-in/payments/settle-payment.ts';
import { asAClient } from '../support/as-a-client.ts';
import { asAStep } from '../support/as-a-step.ts';
import { countDeadlocks, writeInOneShard } from '../support/one-shard.ts';
import { isFullRun } from '../support/run.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { buildActiveCircle, contribute, memberIdsOf, readCircle } from './build-circle.ts';

/** The number of members; all pay concurrently, each in several ways. */
const size = isFullRun() ? 10 : 3;

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  await writeInOneShard(stack);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

it('Settling, debiting and paying contributions and pots at the same time never deadlocks', async () => {
  const { id, creator, members } = await buildActiveCircle(stack, size);
  const orders = await Promise.all(
    members.map(async (member) => (await contribute(stack, member, id, { payment_id: 1 })).body.payment_order_id),
  );
  const [{ total }] = await stack
    .em()
    .execute<[{ total: string }]>('select (nominal + admin_fee)::text as total from payment_orders where id = ?', [
      orders[0],
    ]);
  const memberIds = await memberIdsOf(stack, id, members);
  const before = await countDeadlocks(stack);
  const settle = (orderId: string) => {
    const payment = { providerPaymentId: `pay-${orderId}`, providerPaymentMethodId: `pm-${orderId}`, amount: total };
    return asAStep(() => settlePayment(stack.em(), { orderId, payment }, stack.deps));
  };
  const debit = (memberId: string) =>
    payForMember(stack.em(), { circleId: id, memberId, turn: 1, sourceAccountId: null });
  const outcomes = await Promise.allSettled([
    ...orders.map(settle),
    ...memberIds.map(debit),
    ...members.map((member) => asAClient(() => contribute(stack, member, id))),
    ...members.map(() => moveCircle(stack.em(), stack.deps, { circleId: id, at: new Date().toISOString() })),
  ]);
  expect((await countDeadlocks(stack)) - before).toBe(0);
  expect(outcomes.slice(0, orders.length)).toEqual(orders.map(() => ({ status: 'fulfilled', value: 'PAID' })));
  await eventually(
    () => readCircle(stack, creator, id),
    ({ current_turn }) => current_turn === 2,
  );
}, 240_000);
