import { createMetrics } from '../../../src/platform/metrics/metrics.ts';
import { measureBacklog } from '../../../src/wiring/measure-backlog.ts';
import { type BuiltUser, balanceOf, buildIndividual } from '../../support/build.ts';
import { currentRun } from '../../support/current-run.ts';
import { casesOf, itInFull } from '../../support/full.ts';
import { type BuiltPartner, buildPartner } from '../../support/partner.ts';
import { eventually, expectChecksEmpty } from '../../support/stack.ts';
import { startTimeSkippingStack, type TimeSkippingStack } from '../../support/time-skipping.ts';
import { describeLateMoney } from '../callbacks/late-money.ts';

let stack: TimeSkippingStack;
let payer: BuiltUser;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startTimeSkippingStack();
  payer = await buildIndividual(stack);
  partner = await buildPartner(stack);
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

async function topUp(): Promise<{ payment_order_id: string; payment_code: string }> {
  const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 75_000 };
  const answer = await stack.post('/v1/payments/gateway', body, { token: payer.token });
  expect(answer.status).toBe(201);
  return answer.body.data;
}

const statusOf = async (id: string) =>
  (await stack.get(`/v1/payments/orders/${id}`, { token: payer.token })).body.data.status;
/** The run that waits for the payer: a callback that arrives after it completed starts another. */
const waitingRunOf = (id: string) => currentRun(stack.time.client.workflow, `gateway-payment/${id}`);
const resultOf = (id: string) => stack.time.client.workflow.getHandle(`gateway-payment/${id}`).result();

describe('A payment order at its deadline', () => {
  itInFull('An unpaid order and its instrument at the provider expire at the deadline', async () => {
    const order = await topUp();
    expect(await resultOf(order.payment_order_id)).toBe('EXPIRED');
    expect(await statusOf(order.payment_order_id)).toBe('EXPIRED');
    const { payments } = (await stack.sandbox.get(`/sandbox/records?reference_id=${order.payment_order_id}`)).body;
    expect(payments).toMatchObject([{ status: 'EXPIRED' }]);
  });

  it('A paid order whose callbacks are all lost is settled, because the workflow queries the provider', async () => {
    await stack.sandbox.put('/sandbox/faults', { callbacks: { drop: true } });
    try {
      const order = await topUp();
      await stack.sandbox.post('/sandbox/pay', { payment_code: order.payment_code });
      expect(await resultOf(order.payment_order_id)).toBe('PAID');
      expect(await balanceOf(stack, payer.accountId)).toBe('75000.0000');
    } finally {
      await stack.sandbox.put('/sandbox/faults', {});
    }
  });

  itInFull(
    'An order’s workflow queries the provider hourly, or only briefly every four hours while callbacks arrive',
    async () => {
      const asks = async (order: { payment_order_id: string }) => {
        const handle = await waitingRunOf(order.payment_order_id);
        expect(await handle.result()).toBe('EXPIRED');
        const { events } = await handle.fetchHistory();
        const asked = (events ?? [])
          .map(({ activityTaskScheduledEventAttributes: scheduled }) => scheduled)
          .filter((scheduled) => scheduled?.activityType?.name === 'confirmPayment')
          .map((scheduled) => Buffer.from(scheduled?.input?.payloads?.[0]?.data ?? []).toString());
        const briefly = asked.filter((input) => input.includes('briefly')).length;
        // One more query if the callback of the expiry arrived before the workflow had completed.
        const ofEnd = events?.filter(({ workflowExecutionSignaledEventAttributes: signal }) => signal).length ?? 0;
        return { briefly, whole: asked.length - briefly - ofEnd };
      };
      const hourly = { briefly: 0, whole: 27 };
      expect(await asks(await topUp())).toEqual(hourly);
      for (let paid = 0; paid < 10; paid += 1) {
        const order = await topUp();
        await stack.sandbox.post('/sandbox/pay', { payment_code: order.payment_code });
        expect(await resultOf(order.payment_order_id)).toBe('PAID');
      }
      await eventually(
        () => stack.em().execute<unknown[]>("select 1 from gateway_callbacks where event = 'payment.succeeded'"),
        (stored) => stored.length === 10,
      );
      expect(await asks(await topUp())).toEqual({ briefly: 8, whole: 2 });
      // Callbacks stop: of eleven payments, four were found only by queries.
      await stack.owner().execute(
        `update gateway_callbacks set provider_payment_id = 'another' where id in (
         select id from gateway_callbacks where event = 'payment.succeeded' order by received_at desc limit 3)`,
      );
      expect(await asks(await topUp())).toEqual(hourly);
    },
    120_000,
  );

  itInFull(
    'If a callback’s payment is not listed, the provider is queried again after 1, then 5, then 15 minutes',
    async () => {
      const { payment_order_id: id } = await topUp();
      const handle = await waitingRunOf(id);
      await stack.time.sleep('5 hours');
      await handle.signal('callbackArrived');
      expect(await handle.result()).toBe('EXPIRED');
      const { events } = await handle.fetchHistory();
      const at = (event: { eventTime?: { seconds?: unknown } | null }) => Number(event.eventTime?.seconds);
      const hinted = (events ?? []).findIndex((event) => event.workflowExecutionSignaledEventAttributes);
      const asked = (events ?? [])
        .slice(hinted)
        .filter((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'confirmPayment')
        .map(at);
      const minutes = asked.slice(1, 4).map((next, index) => Math.round((next - (asked[index] ?? 0)) / 60));
      expect(minutes).toEqual([1, 5, 15]);
    },
    60_000,
  );

  it('An order paid after its deadline stays EXPIRED, and the money goes to suspense', async () => {
    const order = await topUp();
    expect(await resultOf(order.payment_order_id)).toBe('EXPIRED');
    const before = await balanceOf(stack, payer.accountId);
    await stack.sandbox.post('/sandbox/pay', { payment_code: order.payment_code });
    const [receipt] = await eventually(
      () =>
        stack
          .em()
          .execute<{ id: string; reason: string; state: string }[]>(
            'select id, reason, state from receipts where reference = ?',
            [order.payment_order_id],
          ),
      (rows) => rows.length === 1,
    );
    expect(receipt).toMatchObject({ reason: 'late', state: 'suspended' });
    const { status } = await stack.deps.workflows.client.workflow
      .getHandle(`unmatched-receipt/${receipt?.id}`)
      .describe();
    expect(status.name).toBe('RUNNING');
    expect(await statusOf(order.payment_order_id)).toBe('EXPIRED');
    expect(await balanceOf(stack, payer.accountId)).toBe(before);
  });

  itInFull(
    'An order stays PENDING while its provider fails past the deadline, and becomes EXPIRED once it recovers',
    async () => {
      await stack.sandbox.put('/sandbox/faults', { requests: { error_rate: 1 } });
      const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 20_001 };
      // Do not wait for the response, which arrives only when the request times out.
      stack.post('/v1/payments/gateway', body, { token: payer.token }).catch(() => undefined);
      const [row] = await eventually(
        () => stack.em().execute<{ id: string }[]>('select id from payment_orders where nominal = 20001'),
        (rows) => rows.length === 1,
      );
      const id = row?.id ?? '';
      await stack.time.sleep('25 hours');
      const { status } = await stack.time.client.workflow.getHandle(`gateway-payment/${id}`).describe();
      await stack.sandbox.put('/sandbox/faults', {});
      expect([status.name, await statusOf(id)]).toEqual(['RUNNING', 'PENDING']);
      expect(await resultOf(id)).toBe('EXPIRED');
      expect(await statusOf(id)).toBe('EXPIRED');
    },
    60_000,
  );

  itInFull(
    'An order stays PENDING while its provider fails for an hour, then gets exactly one instrument',
    async () => {
      await stack.sandbox.put('/sandbox/faults', { requests: { error_rate: 1 } });
      const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 20_000 };
      const { status, body: answer } = await stack.post('/v1/payments/gateway', body, { token: payer.token });
      expect(status).toBe(201);
      expect(answer.data).toMatchObject({ status: 'PENDING', status_id: 1, payment_code: null });
      await stack.time.sleep('1 hour');
      await stack.sandbox.put('/sandbox/faults', {});
      await stack.time.sleep('10 minutes');
      await eventually(
        () => statusOf(answer.data.payment_order_id),
        (now) => now === 'WAITING_PAYMENT',
      );
      const records = await stack.sandbox.get('/sandbox/records');
      const mine = records.body.payments.filter(
        ({ reference_id }: { reference_id: string }) => reference_id === answer.data.payment_order_id,
      );
      expect(mine).toHaveLength(1);
      expect(await resultOf(answer.data.payment_order_id)).toBe('EXPIRED');
    },
    60_000,
  );
});

interface Settling {
  id: string;
  payment_code: string;
}

/** Opens a payment on each rail; returns its id and code. */
const rails = {
  payment_orders: async (): Promise<Settling> => {
    const { payment_order_id: id, payment_code } = await topUp();
    return { id, payment_code };
  },
  partner_payments: async (): Promise<Settling> => {
    const answer = await partner.post('/payments', { method: 'virtual_account', channel: 'BNI', amount: '75000' });
    expect(answer.status).toBe(200);
    return answer.body.data;
  },
};

describe.each(casesOf(Object.keys(rails) as (keyof typeof rails)[], (rail) => rail === 'partner_payments'))(
  'A row of %s whose money is not settled at its deadline',
  (table) => {
    const rowOf = async (id: string) =>
      (
        await stack
          .em()
          .execute<{ status: string; settling: boolean }[]>(
            `select status, settling_since is not null as settling from ${table} where id = ?`,
            [id],
          )
      )[0];
    const workflowOf = ({ id }: Settling) =>
      stack.time.client.workflow.getHandle(`${table === 'payment_orders' ? 'gateway' : 'partner'}-payment/${id}`);
    const drop = (listing?: object) =>
      stack.sandbox.put('/sandbox/faults', { callbacks: { drop: true }, ...(listing && { listing }) });
    afterEach(() => stack.sandbox.put('/sandbox/faults', {}));

    /** Checks, long after the deadline, that the payment is open, marked for operators, and still queried. */
    async function expectOpenForOperators(payment: Settling): Promise<void> {
      await stack.time.sleep('26 hours');
      // Time skipping does not wait for the work that became due.
      const { historyLength } = await eventually(
        () => workflowOf(payment).describe(),
        ({ searchAttributes }) => searchAttributes.PaymentState?.[0] === 'OPERATOR',
      );
      expect(await rowOf(payment.id)).toEqual({ status: 'WAITING_PAYMENT', settling: true });
      await stack.time.sleep('3 hours');
      const later = await eventually(
        () => workflowOf(payment).describe(),
        (now) => now.historyLength > historyLength,
      );
      expect(later.historyLength).toBeLessThan(historyLength + 200);
      expect(await settlingPayments()).toBe(1);
      if (table === 'payment_orders') return;
      const { next } = (await partner.get(`/payments/${payment.id}/timeline`)).body.data;
      expect(next).toEqual({ at: expect.any(String), text: expect.stringContaining('as paid or pending') });
    }

    itInFull(
      'A payment reported as paid but not listed at its deadline does not expire; once listed, it is settled',
      async () => {
        await drop({ lag_ms: 86_400_000 });
        const payment = await rails[table]();
        await stack.sandbox.post('/sandbox/pay', { payment_code: payment.payment_code });
        await expectOpenForOperators(payment);
        await drop();
        expect(await workflowOf(payment).result()).toBe('PAID');
      },
      60_000,
    );

    it.each(
      casesOf([
        ['SUCCEEDED', 'PAID'],
        ['FAILED', 'EXPIRED'],
      ] as const),
    )(
      'A payment whose money is pending at the deadline does not expire; once the money is %s, it becomes %s',
      async (status, end) => {
        await drop();
        const payment = await rails[table]();
        const { body } = await stack.sandbox.post('/sandbox/pay', {
          payment_code: payment.payment_code,
          status: 'PENDING',
        });
        await expectOpenForOperators(payment);
        await stack.sandbox.post('/sandbox/payments/settle', { payment_id: body.id, status });
        expect(await workflowOf(payment).result()).toBe(end);
      },
      60_000,
    );
  },
);

/** Returns the metric of payments that have been settling too long, after backdating all by ten minutes. */
async function settlingPayments(): Promise<number> {
  await stack.owner().execute("update payment_orders set settling_since = settling_since - interval '10 minutes'");
  await stack.owner().execute("update partner_payments set settling_since = settling_since - interval '10 minutes'");
  const metrics = createMetrics();
  measureBacklog(metrics, stack.deps.orm);
  const [, value] = /^amanah_waiting\{what="settling_payments"\} (\d+)$/m.exec(await metrics.registry.metrics()) ?? [];
  return Number(value);
}

describe('Money that arrives after the deadline', () => describeLateMoney(() => stack));
