import { buildPayer, payoutBody, payoutWhen, readBalance, transfersOf } from '../money-out/payouts/build-payouts.ts';
import { balanceOf, buildIndividual } from '../support/build.ts';
import { holdTable } from '../support/hold-table.ts';
import { untilLocked } from '../support/lock-waits.ts';
import { freshKey } from '../support/partner.ts';
import { type ProcessStack, startProcessStack } from '../support/processes.ts';
import { eventually, expectChecksEmpty } from '../support/stack.ts';
import {
  askFor,
  type BalanceRequest,
  type BalanceWay,
  balanceWays,
  expectOneUnder,
  notAtAll,
  readPaid,
  wholly,
} from './balance-ways.ts';

let stack: ProcessStack;
beforeAll(async () => {
  stack = await startProcessStack({ ownPostgres: true, proxied: true });
}, 120_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack?.stop(), 60_000);
afterEach(async () => {
  for (const { database } of [stack.lines.api, stack.lines.worker]) database.set({ kind: 'pass' });
});

const ways = Object.entries(balanceWays);
/**
 * Cuts each connection to the database that carries this text once the text is through, so that its answer is lost.
 * The returned function counts these cuts.
 */
const loseAnswersTo = (which: 'api' | 'worker', text: string): (() => number) => {
  const { database } = stack.lines[which];
  const before = database.cuts;
  // Only a new connection is sent the text of a prepared statement.
  database.cut();
  database.set({ kind: 'cut-after', text });
  return () => database.cuts - before;
};
/** Like `loseAnswersTo`, for one connection; afterwards the API reaches no database until the proxy lets it. */
async function loseOneAnswerTo({ payer: { token } }: BalanceRequest, text: string): Promise<() => number> {
  const { database } = stack.lines.api;
  const before = database.cuts;
  // The API may first use pooled connections, which are cut here.
  database.cut();
  await eventually(
    () => stack.get('/v1/auth/me', { token }),
    ({ status }) => status === 200,
  );
  database.set({ kind: 'cut-after', text, once: true, awayMs: 120_000 });
  return () => database.cuts - before;
}
const committing = ({ isOneStatement }: BalanceWay) => (isOneStatement ? 'pay_from_balance' : 'commit');

describe('Commits whose answer is lost', () => {
  it.each(ways)(
    'A request for %s whose commit got no answer returns 201 or 503, and a retry with its key pays once',
    async (_, way) => {
      const request = await way.build(stack);
      const key = freshKey();
      const lost = loseAnswersTo('api', committing(way));
      const told: [number, boolean][] = [];
      // Waits until a commit has succeeded and its answer was lost.
      await eventually(
        async () => {
          const { status, headers } = await askFor(stack, request, key);
          told.push([status, headers.has('retry-after')]);
          return readPaid(stack, request);
        },
        ({ keys }) => keys === 1,
      );
      stack.lines.api.database.set({ kind: 'pass' });
      expect(lost()).toBeGreaterThan(0);
      // The API may have found the committed row itself, on another connection.
      expect(told.filter(([status, isLater]) => !(status === 503 ? isLater : status === 201))).toEqual([]);
      expect(await readPaid(stack, request)).toEqual(wholly);
      await expectOneUnder(stack, key, request);
    },
    120_000,
  );

  it('A top-up whose commits got no answer is booked once', async () => {
    const payer = await buildIndividual(stack);
    const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 };
    const order = await eventually(
      () => stack.post('/v1/payments/gateway', body, { token: payer.token, headers: { 'idempotency-key': payer.id } }),
      ({ status, body: answered }) => status === 201 && answered.data.payment_code !== null,
    );
    const { payment_order_id: id, payment_code } = order.body.data;
    const lost = loseAnswersTo('worker', 'commit');
    await stack.sandbox.post('/sandbox/pay', { payment_code });
    await eventually(
      () => balanceOf(stack, payer.accountId),
      (balance) => balance === '50000.0000',
      120_000,
    );
    stack.lines.worker.database.set({ kind: 'pass' });
    expect(lost()).toBeGreaterThan(0);
    const workflow = stack.deps.workflows.client.workflow.getHandle(`gateway-payment/${id}`);
    expect(await workflow.result()).toBe('PAID');
    expect(await balanceOf(stack, payer.accountId)).toBe('50000.0000');
    const { body: transactions } = await stack.get('/v1/transactions', { token: payer.token });
    expect(transactions.data.count).toBe(2);
  }, 240_000);

  it('A payout whose commits got no answer is reserved once and sent once', async () => {
    const partner = await buildPayer(stack);
    const key = freshKey();
    const lost = loseAnswersTo('worker', 'commit');
    const first = partner.post('/payouts', payoutBody(), key).catch(() => null);
    const rows = await eventually(
      () => stack.em().execute<{ id: string }[]>('select id from payouts where partner_id = ?', [partner.id]),
      ({ length }) => length > 0,
    );
    stack.lines.worker.database.set({ kind: 'pass' });
    expect(lost()).toBeGreaterThan(0);
    // Whatever the client was answered, it was not a refusal.
    expect([200, 503]).toContain((await first)?.status);
    const answer = await eventually(
      () => partner.post('/payouts', payoutBody(), key),
      ({ status }) => status === 200,
    );
    expect([answer.body.data.id]).toEqual(rows.map(({ id }) => id));
    await payoutWhen(partner, answer.body.data.id, 'succeeded', 120_000);
    expect(await transfersOf(stack, answer.body.data.id)).toHaveLength(1);
    expect(await readBalance(partner)).toMatchObject({ balance: '900000.0000', pending: '0.0000' });
  }, 240_000);
});

describe('Restarts of PostgreSQL', () => {
  it('If PostgreSQL restarts, open payments roll back and return 503, and each retry pays once', async () => {
    const requests = [];
    for (const [, way] of ways) {
      const count = way.isOneStatement ? 5 : 1;
      for (let n = 0; n < count; n += 1) requests.push({ request: await way.build(stack), key: freshKey() });
    }
    const pids = [stack.api.pid, stack.worker.pid];
    {
      await using _held = await holdTable(stack, 'account_balances');
      const asked = requests.map(({ request, key }) => askFor(stack, request, key));
      await untilLocked(stack, { count: ways.length });
      await stack.stopPostgresImmediately();
      const told = (await Promise.all(asked)).map(({ status, headers }) => [status, headers.has('retry-after')]);
      expect(told).toEqual(requests.map(() => [503, true]));
      await stack.startPostgresAgain();
    }
    for (const { request } of requests) expect(await readPaid(stack, request)).toEqual(notAtAll);
    for (const { request, key } of requests) await expectOneUnder(stack, key, request);
    expect([stack.api.pid, stack.worker.pid]).toEqual(pids);
  }, 240_000);

  it.each(ways)(
    'If PostgreSQL restarts after the commit of %s, the request returns 503 and a retry finds the payment',
    async (_, way) => {
      const { database } = stack.lines.api;
      const request = await way.build(stack);
      const key = freshKey();
      // While nothing answers the API, it cannot find the row either.
      const lost = await loseOneAnswerTo(request, committing(way));
      const asked = askFor(stack, request, key);
      await eventually(
        async () => [lost(), (await readPaid(stack, request)).keys],
        ([cuts, keys]) => cuts === 1 && keys === 1,
      );
      await stack.stopPostgresImmediately();
      const { status, headers } = await asked;
      expect([status, headers.has('retry-after')]).toEqual([503, true]);
      database.set({ kind: 'pass' });
      await stack.startPostgresAgain();
      expect(await readPaid(stack, request)).toEqual(wholly);
      await expectOneUnder(stack, key, request);
    },
    240_000,
  );
});
