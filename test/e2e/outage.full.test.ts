import { type BuiltUser, balanceOf, buildIndividual } from '../support/build.ts';
import { itInFull } from '../support/full.ts';
import { type ProcessStack, startProcessStack } from '../support/processes.ts';
import { eventually, expectChecksEmpty } from '../support/stack.ts';
import { within } from '../support/within.ts';

const payments = 50;

let stack: ProcessStack;
let payer: BuiltUser;
beforeAll(async () => {
  stack = await startProcessStack({ ownPostgres: true, ownTemporal: true });
}, 120_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop(), 60_000);
beforeEach(async () => {
  payer = await buildIndividual(stack);
});

const topUp = (idempotencyKey?: string) =>
  stack.post(
    '/v1/payments/gateway',
    { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 10_000 },
    { token: payer.token, headers: idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey } },
  );

/** Retries a top-up under its key until it succeeds, then pays. */
async function topUpAndPay(index: number): Promise<void> {
  const answer = await eventually(
    () => topUp(`outage-key-${index}-${payer.id}`).catch(() => null),
    (got) => got?.status === 201,
    90_000,
  );
  const id = answer?.body.data.payment_order_id;
  const ready = await eventually(
    () => stack.get(`/v1/payments/orders/${id}`, { token: payer.token }).catch(() => null),
    (got) => got?.body.data?.payment_code != null,
    90_000,
  );
  await stack.sandbox.post('/sandbox/pay', { payment_code: ready?.body.data.payment_code });
}

const allPaid = () =>
  eventually(
    async () => {
      const orders = await stack.get('/v1/payments/orders?limit=100', { token: payer.token }).catch(() => null);
      return (orders?.body.data?.items ?? []).filter(({ status }: { status: string }) => status === 'PAID').length;
    },
    (count) => count === payments,
    120_000,
  );

async function expectAllPosted(): Promise<void> {
  expect(await balanceOf(stack, payer.accountId)).toBe(`${payments * 10_000}.0000`);
  const { body } = await stack.get('/v1/payments/orders?limit=100', { token: payer.token });
  expect(body.data.total).toBe(payments);
}

describe('Outages', () => {
  it(`An immediate shutdown of PostgreSQL during ${payments} top-ups loses none, and no process exits`, async () => {
    const { pid: apiPid } = stack.api;
    const { pid: workerPid } = stack.worker;
    const clients = Array.from({ length: payments }, (_, index) => topUpAndPay(index));
    const settled = Promise.all(clients);
    await eventually(
      async () => Number((await stack.em().execute<{ n: string }[]>('select count(*) as n from payment_orders'))[0]?.n),
      (count) => count >= payments / 5,
    );
    await stack.stopPostgresImmediately();
    const refused = await within(3000, () => topUp());
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect((await stack.get('/readyz')).body.checks).toMatchObject({ database: 'away', temporal: 'ok' });
    await stack.startPostgresAgain();
    await settled;
    await allPaid();
    await expectAllPosted();
    expect(stack.api.isRunning() && stack.worker.isRunning()).toBe(true);
    expect([stack.api.pid, stack.worker.pid]).toEqual([apiPid, workerPid]);
  }, 240_000);

  itInFull(
    'While Temporal is down, a top-up returns 503 within 3 s and stores nothing, and no callback is lost',
    async () => {
      const before = await topUp();
      await stack.killTemporal();
      const refused = await within(3000, () => topUp('temporal-is-away'));
      expect(refused.status).toBe(503);
      expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
      const left = await stack.em().execute<{ orders: string; keys: string }[]>(
        `select (select count(*) from payment_orders where user_id = ?) as orders,
         (select count(*) from requests where owner_id = ?) as keys`,
        [payer.id, payer.id],
      );
      expect(left).toEqual([{ orders: '1', keys: '0' }]);
      // The callback of a payment made during the outage is stored and answered, and delivered when Temporal is back.
      await stack.sandbox.post('/sandbox/pay', { payment_code: before.body.data.payment_code });
      await eventually(
        () =>
          stack
            .em()
            .execute<unknown[]>('select 1 from gateway_callbacks where reference = ?', [
              before.body.data.payment_order_id,
            ]),
        (rows) => rows.length === 1,
      );
      await stack.startTemporalAgain();
      const again = await eventually(
        () => topUp('temporal-is-away'),
        ({ status }) => status === 201,
        30_000,
      );
      expect(again.body.data.status).toBe('WAITING_PAYMENT');
      await eventually(
        () => balanceOf(stack, payer.accountId),
        (balance) => balance === '10000.0000',
        60_000,
      );
    },
    150_000,
  );
});
