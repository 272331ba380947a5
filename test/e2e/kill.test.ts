import { type BuiltUser, balanceOf, buildIndividual } from '../support/build.ts';
import { casesOf } from '../support/full.ts';
import { type ProcessStack, startProcessStack } from '../support/processes.ts';
import { eventually, expectChecksEmpty } from '../support/stack.ts';

let stack: ProcessStack;
let payer: BuiltUser;
beforeAll(async () => {
  stack = await startProcessStack();
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  payer = await buildIndividual(stack);
});
afterEach(() => stack.restart());

/** Where a process dies: after the row, the provider's answer, the callback row, the journal. */
const failpoints = casesOf(
  ['open-payment-order.after', 'request-instrument.after', 'store-callback.after', 'settle-payment.after'] as const,
  // The other two are in payments/first-attempt and saving-goals/kill.
  (failpoint) => failpoint === 'open-payment-order.after' || failpoint === 'store-callback.after',
);
/** Which processes die at the failpoint: the one that reaches it, or also the other one, killed from outside. */
const victims = casesOf(['that process', 'both'] as const);

const cases = failpoints.flatMap((failpoint) => victims.map((victim) => [failpoint, victim] as const));

const key = () => `kill-test-${Math.random().toString(36).slice(2)}`;

/** Retries a top-up under its key until it gets a 201. */
async function topUp(idempotencyKey: string): Promise<{ payment_order_id: string; payment_code: string }> {
  const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 };
  const options = { token: payer.token, headers: { 'idempotency-key': idempotencyKey } };
  const answer = await eventually(
    () => stack.post('/v1/payments/gateway', body, options).catch(() => null),
    (got) => got?.status === 201,
    60_000,
  );
  return answer?.body.data;
}

async function statusOf(id: string): Promise<string> {
  return (await stack.get(`/v1/payments/orders/${id}`, { token: payer.token })).body.data.status;
}

/** Waits until an armed process has killed itself, kills the other one too if requested, and restarts the dead. */
async function dieAndRestart(victim: string): Promise<void> {
  await Promise.race([stack.api.exited, stack.worker.exited]);
  if (victim === 'both') await Promise.all((['api', 'worker'] as const).map((which) => stack.kill(which)));
  await stack.restart();
}

describe('Top-ups whose process is killed with SIGKILL', () => {
  it.each(cases)(
    'A top-up is executed once even if its process is killed with SIGKILL at %s (killed: %s)',
    async (failpoint, victim) => {
      const idempotencyKey = key();
      stack.arm(`${failpoint}=kill`);
      const dying = dieAndRestart(victim);
      const order = await topUp(idempotencyKey);
      await eventually(
        () => statusOf(order.payment_order_id).catch(() => 'away'),
        (status) => status === 'WAITING_PAYMENT',
        30_000,
      );
      // A client that never received its order's code polls for it.
      const { body } = await stack.get(`/v1/payments/orders/${order.payment_order_id}`, { token: payer.token });
      await stack.sandbox.post('/sandbox/pay', { payment_code: body.data.payment_code });
      await dying;
      await eventually(
        () => statusOf(order.payment_order_id).catch(() => 'away'),
        (status) => status === 'PAID',
        60_000,
      );
      expect(await balanceOf(stack, payer.accountId)).toBe('50000.0000');
      const records = await stack.sandbox.get('/sandbox/records');
      const mine = records.body.payments.filter(
        ({ reference_id }: { reference_id: string }) => reference_id === order.payment_order_id,
      );
      expect(mine).toHaveLength(1);
      const { body: transactions } = await stack.get('/v1/transactions', { token: payer.token });
      expect(transactions.data.count).toBe(2);
    },
    120_000,
  );
});
