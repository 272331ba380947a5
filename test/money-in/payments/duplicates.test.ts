import { asAClient } from '../../support/as-a-client.ts';
import { buildIndividual } from '../../support/build.ts';
import { buildGoal } from '../../support/build-targets.ts';
import { isFullRun } from '../../support/run.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const requests = isFullRun() ? 300 : 15;

describe('Duplicate protection', () => {
  it(`Of ${requests} concurrent payments for one saving goal, one is accepted and all others return 400`, async () => {
    const saver = await buildIndividual(stack);
    const goal = await buildGoal(stack, saver);
    const answers = await Promise.all(
      Array.from({ length: requests }, () =>
        asAClient(() =>
          stack.post(
            '/v1/payments/gateway',
            { reference_type: 'saving_goal_contribution', reference_id: goal.id, payment_id: 1, amount: 10_000 },
            { token: saver.token },
          ),
        ),
      ),
    );
    const counts = Map.groupBy(answers, ({ status }) => status);
    expect([counts.get(201)?.length, counts.get(400)?.length]).toEqual([1, requests - 1]);
    const orders = await stack.em().execute<object[]>('select 1 from payment_orders where reference_id = ?', [goal.id]);
    expect(orders).toHaveLength(1);
  }, 120_000);

  it('Of two concurrent inserts of orders for one saving goal, the database rejects one', async () => {
    const saver = await buildIndividual(stack);
    const goal = await buildGoal(stack, saver);
    const orders = [0, 1].map(() => crypto.randomUUID());
    const insert = (order: string) =>
      stack.em().transactional(async (tx) => {
        await tx.execute(
          `insert into payment_orders (id, user_id, reference_type, reference_id, target_account_id, payment_id, nominal,
             admin_fee, status, expires_at, created_at, updated_at)
           values (?, ?, 'saving_goal_contribution', ?, ?, 1, 10000, 4000, 'PENDING', now() + interval '1 hour', now(), now())`,
          [order, saver.id, goal.id, goal.accountId],
        );
        await tx.execute(
          "insert into saving_goal_orders (payment_order_id, saving_goal_id, status) values (?, ?, 'pending')",
          [order, goal.id],
        );
      });
    const outcomes = await Promise.allSettled(orders.map(insert));
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});
