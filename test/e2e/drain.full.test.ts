import { magicAccount } from '../money-out/payouts/build-payouts.ts';
import { type BuiltUser, balanceOf, buildIndividual, fund } from '../support/build.ts';
import { itInFull } from '../support/full.ts';
import type { HttpAnswer } from '../support/http.ts';
import { type BuiltPartner, buildPartner, freshKey } from '../support/partner.ts';
import { type ProcessStack, startProcessStack } from '../support/processes.ts';
import { isFullRun } from '../support/run.ts';
import { eventually, expectChecksEmpty } from '../support/stack.ts';

/** The number of payouts, and of top-ups. */
const count = isFullRun() ? 200 : 20;
const amount = 10_000;

let stack: ProcessStack;
let partner: BuiltPartner;
let payer: BuiltUser;
beforeAll(async () => {
  stack = await startProcessStack({ env: { DRAIN_DELAY_SECONDS: '5' } });
  payer = await buildIndividual(stack);
  const limits = { max_payout_amount: '1000000', max_daily_amount: '1000000000', max_hourly_count: 100_000 };
  partner = await buildPartner(stack, { limits });
  await fund(stack, partner.account.available, '100000000');
}, 120_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
afterEach(() => stack.restart());

const payOut = (key: string): Promise<HttpAnswer> => {
  const to = { bank_code: 'BRI', bank_account_number: magicAccount('111111') };
  return partner.post('/payouts', { amount: String(amount), ...to }, key);
};
const topUp = (key: string): Promise<HttpAnswer> => {
  const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount };
  return stack.post('/v1/payments/gateway', body, { token: payer.token, headers: { 'idempotency-key': key } });
};

/** The answers a client may get while processes restart; each allows a retry under the same key. */
const mayBeRetried = new Set(['unreachable', '503', '504']);

/** Retries a request under the same key until it succeeds, as the documentation requires of clients. */
async function insist(send: (key: string) => Promise<HttpAnswer>): Promise<{ answer: HttpAnswer; met: string[] }> {
  const key = freshKey();
  const met: string[] = [];
  const answer = await eventually(
    async () => {
      const got = await send(key).catch(() => null);
      if (got === null || got.status > 201) met.push(got === null ? 'unreachable' : String(got.status));
      return got;
    },
    (got) => got !== null && got.status <= 201,
    120_000,
  );
  if (answer === null) throw new Error('unreachable to the end');
  return { answer, met };
}

const statusOf = async (path: string, token?: string): Promise<string> => {
  const { status, body } = token === undefined ? await partner.get(path) : await stack.get(path, { token });
  return status === 200 ? body.data.status : `answered ${status}`;
};

/** Pays every top-up, and expects each payout and top-up to succeed and to exist once at the provider. */
async function expectEndedWell(payouts: HttpAnswer[], topUps: HttpAnswer[]): Promise<void> {
  await Promise.all(
    topUps.map(async ({ body }) => {
      const path = `/v1/payments/orders/${body.data.payment_order_id}`;
      const order = await eventually(
        () => stack.get(path, { token: payer.token }),
        (got) => got.status === 200 && got.body.data.payment_code !== null,
        60_000,
      );
      await stack.sandbox.post('/sandbox/pay', { payment_code: order.body.data.payment_code });
      await eventually(
        () => statusOf(path, payer.token),
        (status) => status === 'PAID',
        120_000,
      );
    }),
  );
  await Promise.all(
    payouts.map(({ body }) =>
      eventually(
        () => statusOf(`/payouts/${body.data.id}`),
        (status) => status === 'succeeded',
        120_000,
      ),
    ),
  );
  const records = (await stack.sandbox.get('/sandbox/records')).body;
  const references = (rows: { reference_id: string }[]) => rows.map(({ reference_id }) => reference_id).toSorted();
  const transfers = new Set(payouts.map(({ body }) => body.data.id));
  const orders = new Set(topUps.map(({ body }) => body.data.payment_order_id));
  expect(references(records.transfers).filter((id) => transfers.has(id))).toEqual([...transfers].toSorted());
  expect(references(records.payments).filter((id) => orders.has(id))).toEqual([...orders].toSorted());
  expect([transfers.size, orders.size]).toEqual([payouts.length, topUps.length]);
}

async function restartGracefully(which: 'api' | 'worker'): Promise<void> {
  const { exited } = stack[which];
  stack[which].kill('SIGTERM');
  expect(await exited).toEqual({ code: 0, signal: null });
  await stack.restart();
}

describe('A restart by SIGTERM', () => {
  it('SIGTERM makes the API report not ready, and every pending request still succeeds', async () => {
    const before = await balanceOf(stack, payer.accountId);
    const payouts = Array.from({ length: 10 }, () => payOut(freshKey()));
    const topUps = Array.from({ length: 10 }, () => topUp(freshKey()));
    const { exited } = stack.api;
    stack.api.kill('SIGTERM');
    const away = await eventually(
      () => stack.get('/readyz'),
      ({ status }) => status === 503,
      5000,
    );
    expect(away.body.checks).toMatchObject({ serving: 'away', database: 'ok' });
    expect((await stack.get('/healthz')).status).toBe(200);
    const answers = [await Promise.all(payouts), await Promise.all(topUps)] as const;
    expect(new Set(answers[0].map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers[1].map(({ status }) => status))).toEqual(new Set([201]));
    expect(await exited).toEqual({ code: 0, signal: null });
    await stack.restart();
    await expectEndedWell(...answers);
    expect(await balanceOf(stack, payer.accountId)).toBe(`${Number(before) + 10 * amount}.0000`);
  }, 180_000);

  itInFull(
    `During restarts of API and worker by SIGTERM, ${count} payouts and ${count} top-ups are executed once each`,
    async () => {
      const before = await balanceOf(stack, payer.accountId);
      // Requests are spread over the restarts, so that every moment of a restart meets some.
      const spread = <T>(begin: () => Promise<T>) =>
        Array.from({ length: count }, (_, index) =>
          new Promise((resolve) => setTimeout(resolve, (index * 11_000) / count)).then(begin),
        );
      const asked = [spread(() => insist(payOut)), spread(() => insist(topUp))] as const;
      await new Promise((resolve) => setTimeout(resolve, 500));
      await restartGracefully('api');
      await restartGracefully('worker');
      const [payouts, topUps] = [await Promise.all(asked[0]), await Promise.all(asked[1])];
      const met = [...payouts, ...topUps].flatMap((client) => client.met);
      expect(met.filter((what) => !mayBeRetried.has(what))).toEqual([]);
      await expectEndedWell(
        payouts.map(({ answer }) => answer),
        topUps.map(({ answer }) => answer),
      );
      expect(await balanceOf(stack, payer.accountId)).toBe(`${Number(before) + count * amount}.0000`);
    },
    600_000,
  );
});
