import { asAClient } from '../../support/as-a-client.ts';
import { type BuiltUser, buildIndividual } from '../../support/build.ts';
import type { HttpAnswer } from '../../support/http.ts';
import { type BuiltPartner, buildPartner, freshKey } from '../../support/partner.ts';
import { type ProcessStack, startProcessStack } from '../../support/processes.ts';
import { eventually, expectChecksEmpty } from '../../support/stack.ts';

let stack: ProcessStack;
let payer: BuiltUser;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startProcessStack();
  payer = await buildIndividual(stack);
  partner = await buildPartner(stack);
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
afterEach(async () => {
  await stack.restart();
  await stack.sandbox.put('/sandbox/faults', {});
});

interface Kind {
  table: string;
  /** Failpoints at which the worker dies. */
  opened: string;
  made: string;
  settled: string;
  /** Sends the request with a key; new rows identify what was created. */
  ask(key: string): Promise<HttpAnswer>;
  cancel(id: string): Promise<{ status: number }>;
  /** The answer to a cancellation that arrives after the payment. */
  paidFirst: number;
}
const kinds: [string, Kind][] = [
  [
    'a payment order',
    {
      table: 'payment_orders',
      opened: 'open-payment-order.after',
      made: 'request-instrument.after',
      settled: 'settle-payment.after',
      ask: (key) =>
        stack.post(
          '/v1/payments/gateway',
          { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 },
          { token: payer.token, headers: { 'idempotency-key': key } },
        ),
      cancel: (id) => stack.post(`/v1/payments/orders/${id}/cancel`, undefined, { token: payer.token }),
      paidFirst: 400,
    },
  ],
  [
    'a partner’s payment',
    {
      table: 'partner_payments',
      opened: 'open-partner-payment.after',
      made: 'request-partner-instrument.after',
      settled: 'settle-partner-payment.after',
      ask: (key) => partner.post('/payments', { method: 'virtual_account', channel: 'BNI', amount: '50000' }, key),
      cancel: (id) => partner.post(`/payments/${id}/cancel`, {}, null),
      paidFirst: 409,
    },
  ],
];

describe.each(kinds)('A cancellation of %s', (_, kind) => {
  const rowOf = async (id: string) => {
    const [row] = await stack
      .em()
      .execute<{ status: string; payment_code: string | null; cancelled_at: string | null }[]>(
        `select status, payment_code, cancelled_at from ${kind.table} where id = ?`,
        [id],
      );
    return row;
  };
  /** Sends a request, ignores the answer and returns the id of the row that it creates. */
  async function begin(): Promise<string> {
    const known = await stack.em().execute<{ id: string }[]>(`select id from ${kind.table}`);
    const ids = new Set(known.map(({ id }) => id));
    const key = freshKey();
    // Retried under the key: on a busy machine a 503 or no answer leaves unknown whether it was opened.
    const ask = () => asAClient(() => kind.ask(key));
    void ask()
      .catch(ask)
      .catch(() => null);
    const rows = await eventually(
      async () =>
        (await stack.em().execute<{ id: string }[]>(`select id from ${kind.table}`)).filter(({ id }) => !ids.has(id)),
      (made) => made.length === 1,
      120_000,
    );
    return rows[0]?.id ?? '';
  }
  const whenOpen = (id: string) =>
    eventually(
      () => rowOf(id),
      (row) => row?.status === 'WAITING_PAYMENT',
      60_000,
    );
  const whenEnded = (id: string) =>
    eventually(
      () => rowOf(id),
      (row) => row?.status !== 'WAITING_PAYMENT' && row?.status !== 'PENDING',
      120_000,
    );
  const cancelUntilAnswered = (id: string) =>
    eventually(
      () => kind.cancel(id).catch(() => null),
      (answer) => answer?.status === 200 || answer?.status === kind.paidFirst,
      120_000,
    );
  const wish = (id: string) =>
    eventually(
      () => rowOf(id),
      (row) => row?.cancelled_at !== null,
      30_000,
    );
  /** Checks that no instrument of the order can be paid at the provider. */
  async function expectNothingPayable(id: string) {
    const { payments } = (await stack.sandbox.get(`/sandbox/records?reference_id=${id}`)).body;
    for (const payment of payments) expect(payment.status).toBe('EXPIRED');
  }

  it('A cancellation takes effect even if the worker dies before the instrument is requested or stored', async () => {
    const ids: string[] = [];
    for (const point of [kind.made, kind.opened]) {
      await stack.holdAt(point, async () => ids.push(await begin()));
    }
    await stack.kill('worker');
    const cancelling = ids.map((id) => kind.cancel(id).catch(() => null));
    await Promise.all(ids.map(wish));
    await stack.restart();
    await Promise.all(cancelling);
    for (const id of ids) {
      expect((await cancelUntilAnswered(id))?.status).toBe(200);
      expect((await rowOf(id))?.status).toBe('EXPIRED');
      await expectNothingPayable(id);
    }
  }, 240_000);

  it('A cancellation takes effect even if the API dies between storing it and signalling the workflow', async () => {
    const id = await begin();
    await whenOpen(id);
    await stack.sandbox.put('/sandbox/faults', { requests: { hang_rate: 1 } });
    const cancelling = kind.cancel(id).catch(() => null);
    await wish(id);
    await stack.kill('api');
    await cancelling;
    await stack.sandbox.put('/sandbox/faults', {});
    await stack.restart();
    expect((await cancelUntilAnswered(id))?.status).toBe(200);
    expect((await rowOf(id))?.status).toBe('EXPIRED');
    await expectNothingPayable(id);
  }, 240_000);

  it('A cancelled payment has one outcome and one receipt even if the worker dies while settling it', async () => {
    const id = await begin();
    const open = await whenOpen(id);
    stack.arm(`${kind.settled}=kill`);
    await stack.sandbox.post('/sandbox/pay', { payment_code: open?.payment_code });
    const cancelling = kind.cancel(id).catch(() => null);
    await Promise.race([stack.worker.exited, whenEnded(id)]);
    // The settlement is visible shortly before its worker dies.
    if ((await rowOf(id))?.status === 'PAID') await stack.worker.exited;
    await stack.restart();
    await cancelling;
    const answer = await cancelUntilAnswered(id);
    const { status } = (await whenEnded(id)) ?? {};
    expect(answer?.status).toBe(status === 'PAID' ? kind.paidFirst : 200);
    const [receipt] = await eventually(
      () => stack.em().execute<{ state: string }[]>('select state from receipts where reference = ?', [id]),
      (rows) => rows.length === 1,
      60_000,
    );
    expect(receipt?.state).toBe(status === 'PAID' ? 'applied' : 'suspended');
  }, 240_000);
});
