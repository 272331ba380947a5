import { setTimeout } from 'node:timers/promises';
import { redeliverCallbacks, redeliverUnreceipted } from '../../../src/money-in/callbacks/deliver-callback.ts';
import { sweepOverduePayments } from '../../../src/money-in/callbacks/sweep-overdue-payments.ts';
import { withinLimit } from '../../../src/platform/database/time-limit.ts';
import { lookAtEverythingAgain, type Sweep, sweepRows } from '../../../src/platform/housekeeping/sweep-rows.ts';
import { newId } from '../../../src/shared/ids.ts';
import { type BuiltUser, buildIndividual } from '../../support/build.ts';
import { itInFull } from '../../support/full.ts';
import { loseWorkflow } from '../../support/lose-workflow.ts';
import { pauseSchedules } from '../../support/pause-schedules.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let payer: BuiltUser;
beforeAll(async () => {
  stack = await startStack({ own: true, worker: true, sandbox: true });
  payer = await buildIndividual(stack);
  // The worker's schedules also run sweeps.
  await pauseSchedules(stack);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

/** Creates an order past its deadline whose workflow is lost; returns its id. */
async function loseOverdueOrder(): Promise<string> {
  const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 };
  const answer = await stack.post('/v1/payments/gateway', body, { token: payer.token });
  const id = answer.body.data.payment_order_id;
  await loseWorkflow(stack.deps.workflows.client, `gateway-payment/${id}`);
  await stack.owner().execute("update payment_orders set expires_at = now() - interval '1 hour' where id = ?", [id]);
  return id;
}
const orderWhen = (id: string, status: string) =>
  eventually(
    async () => (await stack.get(`/v1/payments/orders/${id}`, { token: payer.token })).body.data.status,
    (now) => now === status,
  );
/** Workflows that record the calls to them. */
function recorder() {
  const woken: string[] = [];
  return { woken, wake: async (id: string) => void woken.push(id) };
}
const failsNever = (kind: string, id: string, error: unknown): never => {
  throw new Error(`${kind} ${id} was not woken`, { cause: error });
};
const undelivered = async () =>
  (
    await stack
      .em()
      .execute<{ id: string }[]>(
        'select provider_payment_id as id from gateway_callbacks where delivered_at is null and unread is null',
      )
  ).map(({ id }) => id);
const oneRow = (id: string) => `select '${id}'::uuid as id, now() - interval '1 hour' as since`;

const planted = (rows: number) => `select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid as id,
  now() - interval '1 hour' as since from generate_series(1, ${rows}) n`;
/** Runs a sweep in an activity with this time-out. */
const sweepWithin = async (ms: number, sweeps: Sweep[], failed = (_: string, _id: string, _error: unknown) => {}) => {
  const endsAt = performance.now() + ms;
  const woken = await withinLimit({ endsAt, askUntil: endsAt }, () => sweepRows(stack.em(), sweeps, failed));
  return { woken, leftMs: endsAt - performance.now() };
};

describe('A sweep', () => {
  it('One run of the sweep wakes each of thousands of rows once', async () => {
    const { woken, wake } = recorder();
    const rows = isFullRun() ? 12_345 : 2_345;
    const due = planted(rows);
    expect(await sweepRows(stack.em(), [{ kind: 'webhook_delivery', due, wake }], failsNever)).toBe(rows);
    expect(new Set(woken).size).toBe(rows);
    expect(woken).toHaveLength(rows);
  }, 60_000);

  itInFull(
    'The sweep releases its claims when waking slows down, and the next sweep wakes those rows at once',
    async () => {
      const { woken, wake } = recorder();
      const slowly = async (id: string) => {
        await wake(id);
        await setTimeout(4_000);
      };
      const looks = (having: string) =>
        stack
          .em()
          .execute<{ id: string }[]>(`select subject_id as id from sweep_looks where kind = 'decision' and ${having}`);
      // Of 100 rows claimed at first, 50 are woken at once; after that, less than 12 s remain.
      const slow = await sweepWithin(15_000, [{ kind: 'decision', due: planted(100), wake: slowly }], failsNever);
      expect(slow).toEqual({ woken: woken.length, leftMs: expect.any(Number) });
      expect(slow.leftMs).toBeGreaterThan(0);
      expect(woken.length).toBeLessThanOrEqual(50);
      expect((await looks('look_again_at > now()')).map(({ id }) => id).toSorted()).toEqual(woken.toSorted());
      expect(await looks('look_again_at <= now()')).toEqual([]);
      // Rows checked earlier keep their count and are due too.
      await stack.owner().execute("update sweep_looks set looks = 5, look_again_at = now() where kind = 'decision'");
      const again = await sweepWithin(11_000, [{ kind: 'decision', due: planted(100), wake }], failsNever);
      expect(again.woken).toBe(0);
      expect(await looks('looks = 5 and look_again_at <= now()')).toHaveLength(woken.length);
      await stack.owner().execute("update sweep_looks set look_again_at = now() + interval '1 hour' where looks = 5");
      await sweepRows(stack.em(), [{ kind: 'decision', due: planted(100), wake }], failsNever);
      expect(woken).toHaveLength(100);
      expect(new Set(woken).size).toBe(100);
    },
  );

  itInFull(
    'The sweep completes before its activity times out even if a signal hangs, and reports the signal as failed',
    async () => {
      const failed: string[] = [];
      const hanging: Sweep = { kind: 'callback', due: oneRow(newId()), wake: () => new Promise(() => {}) };
      const { woken, leftMs } = await sweepWithin(15_000, [hanging], (kind) => failed.push(kind));
      expect(leftMs).toBeGreaterThan(0);
      expect([woken, failed]).toEqual([0, ['callback']]);
    },
  );

  it('A row whose workflow cannot be signalled does not delay the next row of a sweep', async () => {
    const [bad, good] = [await loseOverdueOrder(), await loseOverdueOrder()];
    const failed: string[] = [];
    const hintGatewayPayment = (id: string) =>
      id === bad ? Promise.reject(new Error('too many signals')) : stack.deps.workflows.hintGatewayPayment(id);
    await sweepOverduePayments(stack.em(), { ...stack.deps.workflows, hintGatewayPayment }, (_, id) => failed.push(id));
    expect(failed).toEqual([bad]);
    await orderWhen(good, 'EXPIRED');
    await lookAtEverythingAgain(stack.em());
    await sweepOverduePayments(stack.em(), stack.deps.workflows, failsNever);
    await orderWhen(bad, 'EXPIRED');
  });

  // More than one claim takes, but few enough to be tried before the first is due again.
  const stuckCallbacks = isFullRun() ? 500 : 150;
  it(`${stuckCallbacks} undeliverable callbacks never delay the one behind them`, async () => {
    const [stuck, good] = [await loseOverdueOrder(), await loseOverdueOrder()];
    const plant = (reference: string, count: number, ago: string) =>
      stack.owner().execute(
        `with key as (insert into callback_keys (webhook_id, body_digest, callback_id)
           select uuidv7(), '', uuidv7() from generate_series(1, ?) returning *)
         insert into gateway_callbacks (id, webhook_id, event, kind, reference, body_sealed, body_digest, body_bytes,
           received_at)
         select callback_id, webhook_id, 'payment_method.activated', 'payment_method', ?, '', body_digest, 0,
           now() - ?::interval from key`,
        [count, reference, ago],
      );
    await plant(stuck, stuckCallbacks, '2 hours');
    await plant(good, 1, '1 hour');
    const hinted: string[] = [];
    const failed: string[] = [];
    // As Temporal answers for an execution that has received its 10,000 signals.
    const hintGatewayPayment = async (id: string) => {
      if (id === stuck) throw new Error('exceeded workflow execution limit for signal events');
      hinted.push(id);
    };
    const redeliver = () =>
      redeliverCallbacks(
        stack.em(),
        { ...stack.deps, workflows: { ...stack.deps.workflows, hintGatewayPayment } },
        (kind) => failed.push(kind),
      );
    for (let round = 0; round < 3; round += 1) await redeliver();
    expect(hinted).toEqual([good]);
    // The callbacks in front of it are tried once each.
    expect(failed).toEqual(Array(stuckCallbacks).fill('callback'));
    await stack.owner().execute('update gateway_callbacks set delivered_at = now() where reference = ?', [stuck]);
  });

  it('Only recent payment callbacks whose money has no receipt are redelivered after Temporal was lost', async () => {
    const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 };
    const { body: made } = await stack.post('/v1/payments/gateway', body, { token: payer.token });
    const paid = await stack.sandbox.post('/sandbox/pay', { payment_code: made.data.payment_code });
    await orderWhen(made.data.payment_order_id, 'PAID');
    await eventually(
      () => undelivered(),
      (ids) => ids.length === 0,
    );
    const plant = (kind: string, paymentId: string, age: string) =>
      stack.owner().execute(
        `with key as (insert into callback_keys (webhook_id, body_digest, callback_id)
           values (uuidv7(), '', uuidv7(?::interval)) returning *)
         insert into gateway_callbacks (id, webhook_id, event, kind, reference, provider_payment_id, body_sealed,
           body_digest, body_bytes, delivered_at)
         select callback_id, webhook_id, 'payment.succeeded', ?, 'somebody', ?, '', body_digest, 0, now() from key`,
        [age, kind, paymentId],
      );
    await plant('payment', 'py-lost', '-1 hour');
    await plant('payment', paid.body.id, '-1 hour');
    await plant('payment', 'py-long-ago', '-3 days');
    await plant('payment_method', 'py-of-a-method', '-1 hour');
    expect(await redeliverUnreceipted(stack.em())).toBe(1);
    expect(await undelivered()).toEqual(['py-lost']);
    await stack.owner().execute('update gateway_callbacks set delivered_at = now()');
  });

  it('A sweep that cannot read one kind of row fails, but still wakes the next kind', async () => {
    const { woken, wake } = recorder();
    const kinds: Sweep[] = [
      { kind: 'callback', due: 'select id, since from nowhere', wake },
      { kind: 'receipt', due: oneRow(newId()), wake },
    ];
    await expect(sweepRows(stack.em(), kinds, failsNever)).rejects.toThrow('nowhere');
    expect(woken).toHaveLength(1);
  });

  itInFull(
    'The sweep spends the time that other kinds do not use on the kind with more rows',
    async () => {
      const { woken, wake } = recorder();
      const other = newId();
      const slowly = async (id: string) => {
        await wake(id);
        await setTimeout(50);
      };
      const kinds: Sweep[] = [
        { kind: 'payment_order', due: planted(60_000), wake: slowly },
        { kind: 'receipt', due: oneRow(other), wake },
      ];
      await sweepWithin(40_000, kinds, failsNever);
      expect(woken).toContain(other);
      expect(woken.length - 1).toBeGreaterThan(woken.indexOf(other));
    },
    60_000,
  );

  it('Concurrent sweeps never wake a row twice', async () => {
    const { woken, wake } = recorder();
    const due =
      'select gen.id, now() as since from (select md5(n::text)::uuid as id from generate_series(1, 200) n) gen';
    const sweep = () => sweepRows(stack.em(), [{ kind: 'callback', due, wake }], failsNever);
    await Promise.all([sweep(), sweep(), sweep(), sweep()]);
    expect(woken).toHaveLength(200);
    expect(new Set(woken).size).toBe(200);
  });

  it('The sweep wakes an overdue row at doubling intervals up to a day: under 5,000 times in ten years', async () => {
    const { woken, wake } = recorder();
    const id = newId();
    const waits: number[] = [];
    for (let look = 0; look < 14; look += 1) {
      await sweepRows(stack.em(), [{ kind: 'payout', due: oneRow(id), wake }], failsNever);
      await sweepRows(stack.em(), [{ kind: 'payout', due: oneRow(id), wake }], failsNever);
      const [row] = await stack.owner().execute<{ minutes: number }[]>(
        `with due as (update sweep_looks set look_again_at = now() where subject_id = ? returning subject_id)
         select round(extract(epoch from look_again_at - now()) / 60)::int as minutes
         from sweep_looks join due using (subject_id)`,
        [id],
      );
      waits.push(row?.minutes ?? 0);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1440, 1440, 1440]);
    expect(woken).toHaveLength(14);
    const years = 10;
    expect(waits.length + (years * 366 * 1440) / Math.max(...waits)).toBeLessThan(10_000 / 2);
  });

  it('The sweep starts again with the shortest interval for a row that had recovered in between', async () => {
    const { wake } = recorder();
    const id = newId();
    const sweep = () => sweepRows(stack.em(), [{ kind: 'receipt', due: oneRow(id), wake }], failsNever);
    const moveTo = (ago: string) =>
      stack
        .owner()
        .execute(`update sweep_looks set looks = 9, look_again_at = now() - interval '${ago}' where subject_id = ?`, [
          id,
        ]);
    const looks = async () =>
      (await stack.em().execute<{ looks: number }[]>('select looks from sweep_looks where subject_id = ?', [id]))[0];
    await sweep();
    await moveTo('1 hour');
    await sweep();
    expect(await looks()).toEqual({ looks: 10 });
    await moveTo('3 days');
    await sweep();
    expect(await looks()).toEqual({ looks: 1 });
  });
});
