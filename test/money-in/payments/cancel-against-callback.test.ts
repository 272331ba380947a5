import { randomUUID } from 'node:crypto';
import { type BuiltUser, balanceOf, buildIndividual } from '../../support/build.ts';
import { casesOf } from '../../support/full.ts';
import type { HttpAnswer } from '../../support/http.ts';
import { type BuiltPartner, buildPartner } from '../../support/partner.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

/** A workflow gets two concurrent signals: the payer cancels, and the provider reports the money. */
let stack: Stack;
let payer: BuiltUser;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startStack({
    isImpatient: true,
    worker: true,
    sandbox: true,
    ...(isFullRun() && { env: { RATE_LIMIT_REQUESTS_PER_10S: '100000' } }),
  });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  payer = await buildIndividual(stack);
  partner = await buildPartner(stack);
  // The test sends the callbacks.
  await stack.sandbox.put('/sandbox/faults', { callbacks: { drop: true } });
});

const races = isFullRun() ? 50 : 4;

interface Opened {
  id: string;
  code: string;
}
interface Rail {
  table: 'payment_orders' | 'partner_payments';
  open(): Promise<Opened>;
  cancel(id: string): Promise<HttpAnswer>;
  read(id: string): Promise<HttpAnswer>;
  /** The answer to a cancellation that arrives after the payment. */
  refusal: number;
  /** The gross of all credited payments, IDR. */
  credited(): Promise<number>;
}
const gross = 54_000;
const rails: [string, Rail][] = [
  [
    'a payment order',
    {
      table: 'payment_orders',
      async open() {
        const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 };
        const { status, body: answer } = await stack.post('/v1/payments/gateway', body, { token: payer.token });
        expect(status).toBe(201);
        return { id: answer.data.payment_order_id, code: answer.data.payment_code };
      },
      cancel: (id) => stack.post(`/v1/payments/orders/${id}/cancel`, undefined, { token: payer.token }),
      read: (id) => stack.get(`/v1/payments/orders/${id}`, { token: payer.token }),
      refusal: 400,
      credited: async () => (Number(await balanceOf(stack, payer.accountId)) / 50_000) * gross,
    },
  ],
  [
    'a partner’s payment',
    {
      table: 'partner_payments',
      async open() {
        const body = { method: 'virtual_account', channel: 'BCA', amount: String(gross) };
        const { status, body: answer } = await partner.post('/payments', body);
        expect(status).toBe(200);
        return { id: answer.data.id, code: answer.data.payment_code };
      },
      cancel: (id) => partner.post(`/payments/${id}/cancel`, {}, null),
      read: (id) => partner.get(`/payments/${id}`),
      refusal: 409,
      credited: async () => Number((await partner.get('/balance')).body.data.balance),
    },
  ],
];

type Payment = { id: string; payment_method: { id: string } };
const payAtProvider = async ({ code }: Opened): Promise<Payment | null> => {
  const { status, body } = await stack.sandbox.post('/sandbox/pay', { payment_code: code });
  return status < 300 ? body : null;
};
const callBack = ({ id: reference_id }: Opened, { id, payment_method }: Payment) =>
  stack.post(
    '/v1/gateway/callbacks/xendit',
    {
      event: 'payment.succeeded',
      data: { id, reference_id, payment_method, amount: gross, status: 'SUCCEEDED' },
    },
    { headers: { 'x-callback-token': stack.callbackToken, 'webhook-id': randomUUID() } },
  );
/** Repeats the request while it returns 503 or 504, as it may on a busy machine. */
const untilTold = (ask: () => Promise<HttpAnswer>) =>
  eventually(ask, ({ status }) => status !== 503 && status !== 504, 120_000);

interface Raced extends Opened {
  answer: HttpAnswer;
  payment: Payment | null;
}
/** Which of the two comes first; `ends` are the possible outcomes. */
interface Order {
  race(rail: Rail, opened: Opened, index: number): Promise<Raced>;
  ends: string[];
}
const orders: [string, Order][] = [
  [
    'the callback first',
    {
      ends: ['PAID'],
      race: async (rail, opened) => {
        const payment = await payAtProvider(opened);
        const called = payment && callBack(opened, payment);
        const answer = await untilTold(() => rail.cancel(opened.id));
        await called;
        return { ...opened, answer, payment };
      },
    },
  ],
  [
    'the cancellation first',
    {
      ends: ['EXPIRED', 'PAID'],
      // Race 0 pays before the cancellation, the last race after its answer, and those between later and later.
      race: async (rail, opened, index) => {
        const early = index === 0 ? await payAtProvider(opened) : null;
        const cancelled = untilTold(() => rail.cancel(opened.id));
        for (let look = 0; look < index; look += 1) await rail.read(opened.id);
        if (index === races - 1) await cancelled;
        const payment = early ?? (await payAtProvider(opened));
        if (payment) await callBack(opened, payment);
        return { ...opened, answer: await cancelled, payment };
      },
    },
  ],
];

const all = async <T>(sql: string, ids: string[]): Promise<T[]> => stack.em().execute<T[]>(sql, [`{${ids.join(',')}}`]);

describe.each(rails)('%s that is cancelled while its callback arrives', (_, rail) => {
  it.each(casesOf(orders, (_, index) => index === rails.findIndex(([, each]) => each === rail)))(
    `A cancellation concurrent with the callback (%s, ${races} times) has one outcome, and no money is lost`,
    async (__, { race, ends: expected }) => {
      const opened: Opened[] = [];
      while (opened.length < races) {
        const few = Array.from({ length: Math.min(10, races - opened.length) }, rail.open);
        opened.push(...(await Promise.all(few)));
      }
      const raced = await Promise.all(opened.map((each, index) => race(rail, each, index)));
      const ids = opened.map(({ id }) => id);
      const final = "('PAID', 'EXPIRED')";
      const ends = await eventually(
        () =>
          all<{ id: string; status: string }>(
            `select id, status from ${rail.table} where id = any(?::uuid[]) and status in ${final}`,
            ids,
          ),
        (rows) => rows.length === races,
        120_000,
      );
      const endOf = new Map(ends.map(({ id, status }) => [id, status]));
      expect([...new Set(endOf.values())].toSorted()).toEqual(expected);
      // The caller who cancels gets the outcome.
      expect(raced.map(({ answer }) => answer.status)).toEqual(
        raced.map(({ id }) => (endOf.get(id) === 'PAID' ? rail.refusal : 200)),
      );
      // Each payment at the provider is one receipt: applied if the order is paid, otherwise in suspense.
      const paid = raced.filter(({ payment }) => payment !== null);
      const receipts = await eventually(
        () =>
          all<{ reference: string; state: string; amount: string }>(
            'select reference, state, amount::text from receipts where reference = any(?::text[]) order by reference',
            ids,
          ),
        (rows) => rows.length === paid.length,
        120_000,
      );
      expect(receipts).toEqual(
        paid
          .map(({ id }) => ({
            reference: id,
            state: endOf.get(id) === 'PAID' ? 'applied' : 'suspended',
            amount: `${gross}.0000`,
          }))
          .toSorted((one, other) => (one.reference < other.reference ? -1 : 1)),
      );
      const applied = receipts.filter(({ state }) => state === 'applied').length;
      expect(await rail.credited()).toBe(applied * gross);
    },
    300_000,
  );
});
