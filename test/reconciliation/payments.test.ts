import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Gateway } from '../../src/gateway/gateway.ts';
import { reconcileDay } from '../../src/reconciliation/reconcile-day.ts';
import { findDaysToReconcile } from '../../src/reconciliation/reconciled-days.ts';
import { westernIndonesiaDay } from '../../src/shared/clock.ts';
import { newId } from '../../src/shared/ids.ts';
import { buildPayer, pay, payoutWhen, transfersOf } from '../payouts/build-payouts.ts';
import { type BuiltUser, buildIndividual } from '../support/build.ts';
import { testRun } from '../support/run.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
let payer: BuiltUser;
beforeAll(async () => {
  stack = await startStack({ own: true, worker: true, sandbox: true });
  payer = await buildIndividual(stack);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const today = westernIndonesiaDay(new Date());

/** Changes what the provider says of a payment or transfer, in its own file. */
function edit(table: 'payments' | 'transfers', id: string, changes: Record<string, string | number>): void {
  const file = new DatabaseSync(join(testRun().directory, 'sandbox', stack.deps.workflows.taskQueue, 'sandbox.db'));
  file.exec('pragma busy_timeout = 5000');
  for (const [key, value] of Object.entries(changes)) {
    file.prepare(`update ${table} set document = json_set(document, ?, ?) where id = ?`).run(`$.${key}`, value, id);
  }
  file.close();
}

interface Order {
  payment_order_id: string;
  payment_code: string;
}
async function open(): Promise<Order> {
  const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 75_000 };
  return (await stack.post('/v1/payments/gateway', body, { token: payer.token })).body.data;
}
const payAtProvider = async ({ payment_code }: Order): Promise<string> =>
  (await stack.sandbox.post('/sandbox/pay', { payment_code })).body.id;
async function paid(): Promise<string> {
  const order = await open();
  const paymentId = await payAtProvider(order);
  await eventually(
    () =>
      stack
        .em()
        .execute<unknown[]>("select 1 from payment_orders where id = ? and status = 'PAID'", [order.payment_order_id]),
    (rows) => rows.length === 1,
  );
  return paymentId;
}
const reconcile = (day = today, gateway: Gateway = stack.deps.gateway) =>
  reconcileDay(
    stack.em(),
    { gateway, workflows: stack.deps.workflows, failed: () => undefined },
    { day, takenBy: newId() },
  );
const differencesOf = (subject: string) =>
  stack.em().execute<object[]>('select state, ours, theirs from reconciliations where subject = ?', [subject]);

describe('A payment in our books', () => {
  it.each([
    ['FAILED', 'failed'],
    ['REVERSED', 'reversed'],
  ])(
    'that the provider lists as %s is never taken for one that agrees',
    async (status, word) => {
      const paymentId = await paid();
      edit('payments', paymentId, { status });
      await reconcile();
      expect(await differencesOf(paymentId)).toMatchObject([
        { state: 'open', ours: { status: 'applied' }, theirs: { status: word, amount: '79000.0000' } },
      ]);
    },
    60_000,
  );

  it.each([
    ['was not made', { status: 'FAILED' }, { status: 'failed', amount: '79000.0000' }],
    ['was of another amount', { amount: 5000 }, { status: 'succeeded', amount: '5000.0000' }],
  ])(
    'that according to the provider %s is never taken for one that agrees',
    async (_, changes, theirs) => {
      const paymentId = await paid();
      edit('payments', paymentId, { ...changes, created: '2026-01-01T00:00:00.000Z' });
      await reconcile();
      expect(await differencesOf(paymentId)).toMatchObject([{ state: 'open', theirs }]);
    },
    60_000,
  );
});

it('A payout that according to the provider came back is never taken for one that agrees', async () => {
  const partner = await buildPayer(stack);
  const { id } = await pay(partner);
  await payoutWhen(partner, id, 'succeeded');
  const [transfer] = (await transfersOf(stack, id)) as unknown as { id: string }[];
  edit('transfers', transfer?.id ?? '', { status: 'REVERSED', created: '2026-01-01T00:00:00.000Z' });
  await reconcile();
  expect(await differencesOf(transfer?.id ?? '')).toMatchObject([
    { state: 'open', ours: { status: 'succeeded' }, theirs: { status: 'reversed' } },
  ]);
}, 60_000);

it('An unreadable record never hides the money listed after it, and is a difference of its own', async () => {
  await stack.sandbox.put('/sandbox/faults', { callbacks: { drop: true } });
  const [late, odd] = [await open(), await open()];
  await stack.sandbox.post('/sandbox/expire', { payment_code: late.payment_code });
  await stack.deps.workflows.hintGatewayPayment(late.payment_order_id);
  await eventually(
    () =>
      stack
        .em()
        .execute<unknown[]>("select 1 from payment_orders where id = ? and status = 'EXPIRED'", [
          late.payment_order_id,
        ]),
    (rows) => rows.length === 1,
  );
  const lateId = await payAtProvider(late);
  const oddId = await payAtProvider(odd);
  edit('payments', oddId, { amount: 0.12345 });
  await reconcile();
  expect(await differencesOf(oddId)).toMatchObject([
    { state: 'open', ours: null, theirs: { status: 'unreadable', amount: null } },
  ]);
  await eventually(
    () => stack.em().execute<unknown[]>('select 1 from receipts where provider_payment_id = ?', [lateId]),
    (rows) => rows.length === 1,
  );
  edit('payments', oddId, { amount: 79_000 });
  await stack.sandbox.put('/sandbox/faults', {});
}, 60_000);

describe('A day', () => {
  const dayBefore = (days: number) => westernIndonesiaDay(new Date(Date.now() - days * 86_400_000));
  const listNothing: Gateway['listRecords'] = async function* () {
    yield [];
  };

  it('is always compared again a day later', async () => {
    const lagging = { ...stack.deps.gateway, listRecords: listNothing };
    const find = () => findDaysToReconcile(stack.em(), { at: new Date().toISOString() });
    await reconcile(dayBefore(1), lagging);
    expect(await find()).toContain(dayBefore(1));
    await reconcile(dayBefore(2), lagging);
    expect(await find()).not.toContain(dayBefore(2));
  });

  it('whose last run failed never keeps a newer one from being compared first', async () => {
    await stack.owner().execute('insert into reconciled_days (day, started_at) values (?, now())', [dayBefore(4)]);
    await stack.owner().execute("update reconciled_days set state = 'running' where day = ?", [dayBefore(4)]);
    const found = await findDaysToReconcile(stack.em(), { at: new Date().toISOString() });
    expect(found.slice(-2)).toEqual([dayBefore(1), dayBefore(4)]);
  });
});
