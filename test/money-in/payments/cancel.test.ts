import { sweepOverduePayments } from '../../../src/money-in/callbacks/sweep-overdue-payments.ts';
import { budgets } from '../../../src/shared/budgets.ts';
import { newId } from '../../../src/shared/ids.ts';
import { type BuiltUser, balanceOf, buildIndividual, buildSuperAdmin } from '../../support/build.ts';
import { itInFull } from '../../support/full.ts';
import type { HttpAnswer } from '../../support/http.ts';
import { loseWorkflow } from '../../support/lose-workflow.ts';
import { type BuiltPartner, buildPartner } from '../../support/partner.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let payer: BuiltUser;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startStack({ isImpatient: true, worker: true, sandbox: true });
  payer = await buildIndividual(stack);
  partner = await buildPartner(stack, { webhook: { url: `${stack.sandbox.url}/sandbox/webhooks` } });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
afterEach(() => stack.sandbox.put('/sandbox/faults', {}));

interface Opened {
  id: string;
  code: string;
}
const amount = 75_000;
async function order(of = payer): Promise<Opened> {
  const body = { reference_type: 'account_top_up', reference_id: of.accountId, payment_id: 1, amount };
  const answer = await stack.post('/v1/payments/gateway', body, { token: of.token });
  expect(answer.status).toBe(201);
  return { id: answer.body.data.payment_order_id, code: answer.body.data.payment_code };
}
async function payment(): Promise<Opened> {
  const answer = await partner.post('/payments', { method: 'virtual_account', channel: 'BCA', amount: '50000' });
  expect(answer.status).toBe(200);
  return { id: answer.body.data.id, code: answer.body.data.payment_code };
}
const cancelOrder = (id: string, { token } = payer, body?: object) =>
  stack.post(`/v1/payments/orders/${id}/cancel`, body, { token });
const cancelPayment = (id: string, by = partner) => by.post(`/payments/${id}/cancel`, {}, null);
const statusOf = async (id: string): Promise<string> => {
  const rows = await stack
    .em()
    .execute<{ status: string }[]>(
      'select status from payment_orders where id = ? union all select status from partner_payments where id = ?',
      [id, id],
    );
  return rows[0]?.status ?? 'none';
};
async function cancelledAtOf(id: string): Promise<unknown> {
  const [row] = await stack.em().execute<{ cancelled_at: unknown }[]>(
    `select cancelled_at from payment_orders where id = ?
     union all select cancelled_at from partner_payments where id = ?`,
    [id, id],
  );
  return row?.cancelled_at;
}
const when = (id: string, status: string) =>
  eventually(
    () => statusOf(id),
    (now) => now === status,
  );
/** Repeats the request while it returns 503 or 504, as it may on a busy machine. */
const untilTold = (ask: () => Promise<HttpAnswer>) =>
  eventually(ask, ({ status }) => status !== 503 && status !== 504, 120_000);
const pay = ({ code }: Opened) => stack.sandbox.post('/sandbox/pay', { payment_code: code });
const instrumentOf = async ({ code }: Opened) =>
  (await stack.sandbox.get('/sandbox/records')).body.payments.find(
    ({ payment_code }: { payment_code: string }) => payment_code === code,
  );
const eventsOf = async (id: string) =>
  stack
    .em()
    .execute<{ actor_id: string | null; data: object }[]>(
      "select actor_id, data from events where resource_id = ? and event = 'RESOURCE_UPDATED' order by id",
      [id],
    );

describe('POST /v1/payments/orders/:payment_order_id/cancel', () => {
  it('Cancelling an order expires it and its instrument at the provider, and a retry changes nothing', async () => {
    const opened = await order();
    expect(await cancelOrder(opened.id)).toMatchObject({
      status: 200,
      body: { data: { payment_order_id: opened.id, status: 'EXPIRED', status_id: 5 } },
    });
    expect(await instrumentOf(opened)).toMatchObject({ status: 'EXPIRED' });
    expect((await cancelOrder(opened.id)).status).toBe(200);
    const events = await eventsOf(opened.id);
    expect(events.map(({ actor_id, data }) => ({ actor_id, ...data }))).toEqual([
      { actor_id: null, status: 'WAITING_PAYMENT' },
      { actor_id: payer.id, cancelled: true },
      { actor_id: null, status: 'EXPIRED', failure_code: null },
    ]);
  });

  it('A paid order cannot be cancelled and stays paid', async () => {
    const opened = await order();
    await pay(opened);
    await when(opened.id, 'PAID');
    const answer = await cancelOrder(opened.id);
    expect([answer.status, answer.body.message]).toEqual([400, 'payment_order_id: the order is paid']);
    expect(await statusOf(opened.id)).toBe('PAID');
  });

  it('Cancelling an order that was paid without a callback settles it as paid and not cancelled', async () => {
    await stack.sandbox.put('/sandbox/faults', { callbacks: { drop: true } });
    const one = await buildIndividual(stack);
    const opened = await order(one);
    await pay(opened);
    expect((await cancelOrder(opened.id, one)).status).toBe(400);
    expect(await balanceOf(stack, one.accountId)).toBe(`${amount}.0000`);
    expect(await cancelledAtOf(opened.id)).toBeNull();
  });

  it('Cancelling an order returns 403 to other users, 404 for a missing order and 400 with a field', async () => {
    const { id } = await order();
    const other = await buildIndividual(stack);
    expect((await cancelOrder(id, other)).status).toBe(403);
    expect((await cancelOrder(id, await buildSuperAdmin(stack))).status).toBe(403);
    expect((await cancelOrder(newId())).status).toBe(404);
    expect((await cancelOrder('no-id')).status).toBe(400);
    expect((await cancelOrder(id, payer, { reason: 'late' })).status).toBe(400);
    expect((await stack.post(`/v1/payments/orders/${id}/cancel`)).status).toBe(401);
    expect(await statusOf(id)).toBe('WAITING_PAYMENT');
  });

  it('Concurrent cancellations of one order all return 200 and take effect once', async () => {
    const { id } = await order();
    const answers = await Promise.all(
      Array.from({ length: isFullRun() ? 50 : 15 }, () => untilTold(() => cancelOrder(id))),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await eventsOf(id)).toHaveLength(3);
  });

  itInFull(
    'A cancellation concurrent with the payment of an order has one outcome, and no money is lost',
    async () => {
      const one = await buildIndividual(stack);
      const orders = await Promise.all(Array.from({ length: 12 }, () => order(one)));
      const answers = await Promise.all(
        orders.map(async (each, index) => {
          const [answer] =
            index % 2 === 0
              ? await Promise.all([untilTold(() => cancelOrder(each.id, one)), pay(each)])
              : await meet(each, one);
          return answer;
        }),
      );
      const ends = await Promise.all(orders.map(({ id }) => statusOf(id)));
      expect(answers.map(({ status }) => status)).toEqual(ends.map((end) => (end === 'PAID' ? 400 : 200)));
      // Late money, and nothing else, is held for the operators.
      const late = ends.filter((end) => end !== 'PAID').length;
      await eventually(
        () => suspendedOf(orders),
        (rows) => rows === late,
      );
      expect(await balanceOf(stack, one.accountId)).toBe(
        late === orders.length ? '0.0000' : `${(orders.length - late) * amount}.0000`,
      );
    },
    60_000,
  );

  it('The sweep cancels an order whose workflow was never signalled or is lost', async () => {
    const [told, lost] = [await order(), await order()];
    await loseWorkflow(stack.deps.workflows.client, `gateway-payment/${lost.id}`);
    await stack
      .em()
      .execute("update payment_orders set cancelled_at = now() - interval '3 minutes' where id in (?, ?)", [
        told.id,
        lost.id,
      ]);
    await sweepOverduePayments(stack.em(), stack.deps.workflows, (kind, id, cause) => {
      throw new Error(`${kind} ${id}`, { cause });
    });
    await when(told.id, 'EXPIRED');
    await when(lost.id, 'EXPIRED');
  });

  it('The database rejects undoing the cancellation of an order', async () => {
    const { id } = await order();
    await cancelOrder(id);
    const undo = stack.em().execute('update payment_orders set cancelled_at = null where id = ?', [id]);
    await expect(undo).rejects.toThrow();
  });
});

/** Pays first, and cancels while the callback is in flight. */
async function meet(opened: Opened, one: BuiltUser): Promise<[HttpAnswer]> {
  await pay(opened);
  return [await untilTold(() => cancelOrder(opened.id, one))];
}

async function suspendedOf(orders: Opened[]): Promise<number> {
  const marks = orders.map(() => '?').join(', ');
  const rows = await stack.em().execute<{ rows: number }[]>(
    `select count(*)::int as rows from receipts where state = 'suspended' and reference in (${marks})`,
    orders.map(({ id }) => id),
  );
  return rows[0]?.rows ?? 0;
}

describe('POST /v1/partners/payments/:id/cancel', () => {
  it('Cancelling a partner’s payment expires it and its instrument, with a webhook and a timeline entry', async () => {
    const opened = await payment();
    const answer = await cancelPayment(opened.id);
    expect(answer).toMatchObject({
      status: 200,
      body: { data: { id: opened.id, status: 'expired', is_final: true } },
    });
    expect(await instrumentOf(opened)).toMatchObject({ status: 'EXPIRED' });
    const told = await eventually(
      async () => (await stack.sandbox.get(`/sandbox/webhooks?contains=${opened.id}`)).body.webhooks,
      (webhooks) => webhooks.length > 0,
    );
    expect(JSON.parse(told[0].body)).toMatchObject({ type: 'payment.expired', data: { status: 'expired' } });
    const { items, next } = (await partner.get(`/payments/${opened.id}/timeline`)).body.data;
    const texts = items.map(({ text }: { text: string }) => text);
    expect(texts).toContain('You requested cancellation; the provider is asked to accept no more money.');
    expect(texts).toContain('The payment was cancelled.');
    expect(next).toBeNull();
    expect(await cancelPayment(opened.id)).toMatchObject({ status: 200, body: { data: answer.body.data } });
  });

  it('Cancelling a paid payment of a partner returns PAYMENT_ALREADY_PAID', async () => {
    const opened = await payment();
    await pay(opened);
    await when(opened.id, 'PAID');
    const answer = await cancelPayment(opened.id);
    expect([answer.status, answer.body.error.code]).toEqual([409, 'PAYMENT_ALREADY_PAID']);
  });

  it('Cancelling a partner’s payment that was paid without a callback settles it as paid', async () => {
    await stack.sandbox.put('/sandbox/faults', { callbacks: { drop: true } });
    const opened = await payment();
    await pay(opened);
    expect((await cancelPayment(opened.id)).status).toBe(409);
    expect([await statusOf(opened.id), await cancelledAtOf(opened.id)]).toEqual(['PAID', null]);
    const { items } = (await partner.get(`/payments/${opened.id}/timeline`)).body.data;
    expect(JSON.stringify(items)).not.toContain('cancel');
  });

  it('Cancelling another partner’s payment or a missing one returns 404', async () => {
    const { id } = await payment();
    const other = await buildPartner(stack);
    for (const answer of [await cancelPayment(id, other), await cancelPayment(newId())]) {
      expect([answer.status, answer.body.error.code]).toEqual([404, 'RESOURCE_NOT_FOUND']);
    }
    expect(await statusOf(id)).toBe('WAITING_PAYMENT');
  });

  it('Cancelling a partner’s payment accepts no fields', async () => {
    const { id } = await payment();
    const answer = await partner.post(`/payments/${id}/cancel`, { reason: 'late' }, null);
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'REQUEST_INVALID_PAYLOAD' } } });
    expect(answer.body.error.details).toEqual([{ field: 'reason', message: expect.stringContaining('reason') }]);
    expect(await statusOf(id)).toBe('WAITING_PAYMENT');
  });

  it('An unsigned cancellation of a partner’s payment with a read-only key returns 401 or 403', async () => {
    const { id } = await payment();
    const reader = await partner.administer('post', '/keys', { permissions: ['read-gateway'] });
    const headers = { authorization: `Bearer ${reader.body.data.api_key}` };
    const answer = await stack.post(`/v1/partners/payments/${id}/cancel`, {}, { headers });
    expect([401, 403]).toContain(answer.status);
    expect(await statusOf(id)).toBe('WAITING_PAYMENT');
  });

  itInFull(
    'A cancellation concurrent with the customer’s payment of a partner’s payment has one outcome',
    async () => {
      const payments = await Promise.all(Array.from({ length: 10 }, payment));
      const answers = await Promise.all(
        payments.map(async (each) => (await Promise.all([untilTold(() => cancelPayment(each.id)), pay(each)]))[0]),
      );
      const ends = await Promise.all(payments.map(({ id }) => statusOf(id)));
      expect(answers.map(({ status }) => status)).toEqual(ends.map((end) => (end === 'PAID' ? 409 : 200)));
      await eventually(
        () => suspendedOf(payments),
        (rows) => rows === ends.filter((end) => end !== 'PAID').length,
      );
    },
    60_000,
  );
});

describe('A cancellation while the provider is unreachable', () => {
  // Shorten the time-outs of payments and cancellations.
  const { requests } = budgets;
  const { gatewayPayment, cancellation } = requests;
  beforeAll(() => void Object.assign(requests, { gatewayPayment: 5_000, cancellation: 5_000 }));
  afterAll(() => void Object.assign(requests, { gatewayPayment, cancellation }));

  it('A cancellation while the provider is unreachable returns 503 or 504 and completes later', async () => {
    const [mine, theirs] = await Promise.all([order(), payment()]);
    await stack.sandbox.put('/sandbox/faults', { requests: { error_rate: 1 } });
    const [unmade, byPayer, byPartner] = await Promise.all([order(), cancelOrder(mine.id), cancelPayment(theirs.id)]);
    expect([byPayer.status, byPayer.headers.get('retry-after')]).toEqual([503, '5']);
    const status_url = `/v1/partners/payments/${theirs.id}`;
    expect(byPartner).toMatchObject({
      status: 504,
      body: { error: { code: 'PROVIDER_INDETERMINATE', details: { payment_id: theirs.id, status_url } } },
    });
    const { next } = (await partner.get(`/payments/${theirs.id}/timeline`)).body.data;
    expect(next).toEqual({
      at: null,
      text: 'The payment becomes final once the provider accepts no more money for it.',
    });
    expect([unmade.code, await statusOf(unmade.id)]).toEqual([null, 'PENDING']);
    // Backdates the request: for two minutes the provider might still list what it created.
    const ago = "update payment_orders set instrument_asked_at = now() - interval '3 minutes' where id = ?";
    await stack.owner().execute(ago, [unmade.id]);
    const cancelled = cancelOrder(unmade.id);
    await eventually(
      () => eventsOf(unmade.id),
      (events) => events.length === 1,
    );
    await stack.sandbox.put('/sandbox/faults', {});
    for (const { id } of [mine, theirs, unmade]) await when(id, 'EXPIRED');
    expect([200, 503]).toContain((await cancelled).status);
    expect((await cancelOrder(mine.id)).status).toBe(200);
    const { payments } = (await stack.sandbox.get(`/sandbox/records?reference_id=${unmade.id}`)).body;
    expect(payments).toEqual([]);
  }, 90_000);
});
