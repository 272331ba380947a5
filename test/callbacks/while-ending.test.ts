import { randomUUID } from 'node:crypto';
import { closePayment } from '../../src/payments/close-payment.ts';
import { receiptIdFor } from '../../src/shared/ids.ts';
import { buildIndividual } from '../support/build.ts';
import { buildActiveCause } from '../support/build-targets.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ sandbox: true, worker: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const waiting = async (): Promise<number> => {
  const rows = await stack
    .owner()
    .execute<{ count: number }[]>(
      "select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
  return rows[0]?.count ?? 0;
};

it('A callback that comes while its order is ending gets a case of its own', async () => {
  const donor = await buildIndividual(stack);
  const cause = await buildActiveCause(stack);
  const body = { reference_type: 'charitable_cause_donate', reference_id: cause.id, payment_id: 1, amount: 50_000 };
  const made = await stack.post('/v1/payments/gateway', body, { token: donor.token });
  const { payment_order_id: id } = made.body.data;
  const [row] = await stack
    .em()
    .execute<{ method: string }[]>('select provider_payment_method_id as method from payment_orders where id = ?', [
      id,
    ]);
  const paymentId = `py-${randomUUID()}`;

  const holder = stack.owner();
  await holder.begin();
  await holder.execute('select from donations where payment_order_id = ? for update', [id]);
  const close = { orderId: id, status: 'EXPIRED' as const, failureCode: null };
  const closing = closePayment(stack.em(), close, stack.deps.workflows);
  await eventually(waiting, (count) => count === 1);
  // It has told again what was there: what comes now, it cannot see.
  const data = {
    id: paymentId,
    reference_id: id,
    payment_method: { id: row?.method },
    amount: 54_000,
    status: 'SUCCEEDED',
  };
  const callback = stack.post(
    '/v1/gateway/callbacks/xendit',
    { event: 'payment.succeeded', data },
    { headers: { 'x-callback-token': stack.callbackToken, 'webhook-id': randomUUID() } },
  );
  await eventually(waiting, (count) => count === 2);
  await holder.rollback();
  expect(await closing).toBe('EXPIRED');
  expect((await callback).status).toBe(200);
  const handle = stack.deps.workflows.client.workflow.getHandle(`unmatched-receipt/${receiptIdFor(paymentId)}`);
  await eventually(
    () =>
      handle.describe().then(
        ({ status }) => status.name,
        () => 'no case',
      ),
    (status) => status === 'RUNNING',
  );
}, 60_000);
