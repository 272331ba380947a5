import { settlePayment } from '../../../src/money-in/payments/settle-payment.ts';
import { textArray } from '../../../src/shared/postgres.ts';
import { asAClient } from '../../support/as-a-client.ts';
import { asAStep } from '../../support/as-a-step.ts';
import { type BuiltUser, balanceOf, buildIndividual, buildSuperAdmin } from '../../support/build.ts';
import { type BuiltTarget, buildGoal, buildProduct } from '../../support/build-targets.ts';
import type { HttpAnswer } from '../../support/http.ts';
import { untilLocked } from '../../support/lock-waits.ts';
import { countDeadlocks, writeInOneShard } from '../../support/one-shard.ts';
import { isFullRun } from '../../support/run.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { waitLongForLocks } from '../../support/wait-long.ts';

/** Balance payments for targets with a limited amount: saving goals, and products with a target. */
let stack: Stack;
let superAdmin: BuiltUser;
waitLongForLocks();
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  superAdmin = await buildSuperAdmin(stack);
  const functions = await stack.owner().execute<{ definition: string }[]>(
    `select pg_get_functiondef(oid) as definition from pg_proc
       where pronamespace = 'public'::regnamespace and prokind = 'f' and prosrc like '%pg_backend_pid()%'`,
  );
  stack.afterwards(async () => {
    for (const { definition } of functions) await stack.owner().execute(definition);
  });
  await writeInOneShard(stack);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const crowd = isFullRun() ? 50 : 16;

type Kind = 'saving_goal_contribution' | 'investment';
const pay = (payer: BuiltUser, kind: Kind, { id }: BuiltTarget, amount: number) =>
  stack.post(
    '/v1/payments/balance',
    { reference_type: kind, reference_id: id, source_account_id: payer.accountId, amount },
    { token: payer.token },
  );
const buildPayers = (count: number, balance = '1000') =>
  Promise.all(Array.from({ length: count }, () => buildIndividual(stack, { balance })));
const statuses = (answers: HttpAnswer[]) => answers.map(({ status }) => status);

/** Blocks journals until all requests have arrived: the later ones queue. */
async function gathered(asked: (() => Promise<HttpAnswer>)[]): Promise<HttpAnswer[]> {
  const sent: Promise<HttpAnswer>[] = [];
  await stack.owner().transactional(async (tx) => {
    await tx.execute('lock table journal_keys in share row exclusive mode');
    for (const [index, ask] of asked.entries()) {
      sent.push(ask());
      if (index === 0) await untilLocked(stack, { text: 'pay_from_balance' });
    }
    await stack.get('/v1/transactions', { token: superAdmin.token });
  });
  return Promise.all(sent);
}

it('Payments for several goals in one batch succeed, fail or complete their goal independently', async () => {
  const payers = await buildPayers(8);
  const goals = await Promise.all(payers.map((payer) => buildGoal(stack, payer, '100')));
  const at = (index: number) => [payers[index], goals[index]] as [BuiltUser, BuiltTarget];
  const payFor = (index: number, amount: number, of = at(index)[1]) => {
    const [payer] = at(index);
    return () => pay(payer, 'saving_goal_contribution', of, amount);
  };
  const [, foreign] = at(0);
  const answers = await gathered([
    payFor(0, 40),
    payFor(1, 40),
    payFor(2, 100),
    payFor(3, 101),
    payFor(4, 10, foreign),
    payFor(5, 10, { id: superAdmin.id, accountId: '' }),
    payFor(6, 2000),
    payFor(7, 99),
  ]);
  expect(statuses(answers)).toEqual([201, 201, 201, 400, 403, 404, 400, 201]);
  expect(answers[3]?.body.message).toContain('it would exceed the target of the saving goal');
  expect(await Promise.all(goals.map(({ accountId }) => balanceOf(stack, accountId)))).toEqual(
    ['40', '40', '100', '0', '0', '0', '0', '99'].map((amount) => `${amount}.0000`),
  );
  const rows = await stack
    .em()
    .execute<{ id: string }[]>("select id from saving_goals where status = 'completed' and id = any (?::uuid[])", [
      textArray(goals.map(({ id }) => id)),
    ]);
  expect(rows.map(({ id }) => id)).toEqual([goals[2]?.id]);
}, 120_000);

it(`Of ${crowd} concurrent payments for a product, exactly those that its target allows succeed`, async () => {
  const product = await buildProduct(stack, superAdmin, {
    kind: 'investment',
    target: String(20 * (crowd / 2)),
    minimum: '20',
  });
  const payers = await buildPayers(crowd);
  const answers = await Promise.all(payers.map((payer) => asAClient(() => pay(payer, 'investment', product, 20))));
  expect(statuses(answers).filter((status) => status === 201)).toHaveLength(crowd / 2);
  expect(new Set(statuses(answers))).toEqual(new Set([201, 400]));
  expect(await balanceOf(stack, product.accountId)).toBe(`${20 * (crowd / 2)}.0000`);
  const [row] = await stack
    .em()
    .execute<[{ status: string }]>('select status from products where id = ?', [product.id]);
  expect(row.status).toBe('completed');
}, 240_000);

it('In a batch, a product accepts payments up to exactly its target and refuses the rest', async () => {
  const product = await buildProduct(stack, superAdmin, { kind: 'investment', target: '50', minimum: '30' });
  const [first, second, third] = (await buildPayers(3)) as [BuiltUser, BuiltUser, BuiltUser];
  const answers = await gathered([
    () => pay(first, 'investment', product, 40),
    () => pay(second, 'investment', product, 10),
    () => pay(third, 'investment', product, 10),
  ]);
  expect(statuses(answers).toSorted()).toEqual([201, 201, 400]);
  expect(await balanceOf(stack, product.accountId)).toBe('50.0000');
}, 120_000);

it('Concurrent balance payments, gateway payments and releases of goals never deadlock', async () => {
  const payers = await buildPayers(isFullRun() ? 20 : 6, '1000000');
  const goals = await Promise.all(payers.map((payer) => buildGoal(stack, payer)));
  const settlements = await Promise.all(
    payers.map(async (payer, index) => {
      const order = { reference_type: 'saving_goal_contribution', reference_id: goals[index]?.id, payment_id: 1 };
      const { body } = await stack.post('/v1/payments/gateway', { ...order, amount: 50_000 }, { token: payer.token });
      const id: string = body.data.payment_order_id;
      const [{ total }] = await stack
        .em()
        .execute<[{ total: string }]>('select (nominal + admin_fee)::text as total from payment_orders where id = ?', [
          id,
        ]);
      const payment = { providerPaymentId: `pay-${id}`, providerPaymentMethodId: `pm-${id}`, amount: total };
      return () => asAStep(() => settlePayment(stack.em(), { orderId: id, payment }, stack.deps));
    }),
  );
  const before = await countDeadlocks(stack);
  const [settled, paid, released] = await Promise.all([
    Promise.all(settlements.map((settle) => settle())),
    Promise.all(
      payers.map((payer, index) =>
        asAClient(() => pay(payer, 'saving_goal_contribution', goals[index] as BuiltTarget, 10)),
      ),
    ),
    Promise.all(
      payers.map(({ token, accountId }, index) =>
        asAClient(() =>
          stack.post(`/v1/saving-goals/${goals[index]?.id}/release`, { account_id: accountId }, { token }),
        ),
      ),
    ),
  ]);
  expect(new Set(settled)).toEqual(new Set(['PAID']));
  expect(statuses(paid).filter((status) => status !== 201 && status !== 400)).toEqual([]);
  expect(new Set(statuses(released))).toEqual(new Set([200]));
  expect((await countDeadlocks(stack)) - before).toBe(0);
}, 240_000);
