import { ageAttempts, buildPayer, payoutBody, readBalance, readPayout } from '../payouts/build-payouts.ts';
import { type BuiltUser, balanceOf, buildIndividual } from '../support/build.ts';
import type { HttpAnswer } from '../support/http.ts';
import { type BuiltPartner, freshKey } from '../support/partner.ts';
import { isFullRun } from '../support/run.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';

/** Of each kind, all at once. */
const count = isFullRun() ? 100 : 8;
const amount = 10_000;

let stack: Stack;
let payer: BuiltUser;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => stack?.stop());
beforeEach(async () => {
  payer = await buildIndividual(stack);
  partner = await buildPayer(stack, { available: '100000000' });
});
afterEach(() => expectChecksEmpty(stack));

/** Each request has a key of its own, under which it is repeated until it is answered; what it met on the way is kept. */
async function insistAll(ask: (key: string) => Promise<HttpAnswer>) {
  const met = new Set<number>();
  const ids = await Promise.all(
    Array.from({ length: count }, async () => {
      const key = freshKey();
      const answer = await eventually(
        () => ask(key),
        ({ status }) => {
          met.add(status);
          return status === 200 || status === 201;
        },
        240_000,
      );
      return String(answer.body.data.payment_order_id ?? answer.body.data.id);
    }),
  );
  expect(new Set(ids).size).toBe(count);
  return { met, ids };
}

const topUp = (key: string) =>
  stack.post(
    '/v1/payments/gateway',
    { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount },
    { token: payer.token, headers: { 'idempotency-key': key } },
  );
const payOut = (key: string) => partner.post('/payouts', payoutBody({ amount: String(amount) }), key);

/** The provider has each reference once. */
async function expectOnceAtProvider(what: 'payments' | 'transfers', ids: string[]): Promise<void> {
  const records: { reference_id: string }[] = (await stack.sandbox.get('/sandbox/records')).body[what];
  const wanted = new Set(ids);
  const found = records.map(({ reference_id }) => reference_id).filter((id) => wanted.has(id));
  expect(found.toSorted()).toEqual(ids.toSorted());
}

/** The next attempt comes within five minutes of the last one, however many have failed. */
const nextAttemptMs = 360_000;

async function endTopUp(id: string): Promise<void> {
  const read = async () => (await stack.get(`/v1/payments/orders/${id}`, { token: payer.token })).body.data;
  const { payment_code } = await eventually(read, (order) => order?.payment_code != null, nextAttemptMs);
  await stack.sandbox.post('/sandbox/pay', { payment_code });
  await eventually(read, (order) => order?.status === 'PAID', 240_000);
}

/**
 * A transfer that the provider does not know is asked for again after a while, which grows. Each attempt is made old once:
 * one that is a day old is not repeated. Before that, two minutes have to pass, and it is asked about every half minute.
 */
async function endPayout(id: string): Promise<void> {
  let aged = 0;
  await eventually(
    async () => {
      const [row] = await stack.em().execute<{ attempts: number }[]>(
        `select (select count(*)::int from payout_attempts a where a.payout_id = p.id) as attempts from payouts p
         where p.id = ? and p.status = 'pending' and p.last_word = 'not known'`,
        [id],
      );
      if (row !== undefined && row.attempts > aged) {
        aged = row.attempts;
        await ageAttempts(stack, id, 15);
      }
      return readPayout(partner, id);
    },
    (payout) => payout?.status === 'succeeded',
    480_000,
  );
}

/** Neither says that nothing was done: the first may have been. */
const troubles: [string, object][] = [
  ['a third of all requests 500, another third 429', { error_rate: 0.33, limit_rate: 0.33, retry_after_seconds: 1 }],
  [
    'a quarter of all requests nothing after doing it, and a quarter 500',
    { error_rate: 0.25, hang_rate: 0.25, hang_after_effect: true },
  ],
];

describe.each(isFullRun() ? troubles : troubles.slice(0, 1))('While the provider answers %s,', (_, requests) => {
  it(`${count} top-ups and ${count} payouts at once are not refused, and each is made once`, async () => {
    await stack.sandbox.put('/sandbox/faults', { requests });
    const [topUps, payouts] = await Promise.all([insistAll(topUp), insistAll(payOut)]);
    await stack.sandbox.put('/sandbox/faults', {});
    // Anything else would say that it was refused.
    for (const { met } of [topUps, payouts]) {
      expect([...met].filter((status) => ![200, 201, 503, 504].includes(status))).toEqual([]);
    }
    await Promise.all([...topUps.ids.map(endTopUp), ...payouts.ids.map(endPayout)]);
    await expectOnceAtProvider('payments', topUps.ids);
    await expectOnceAtProvider('transfers', payouts.ids);
    expect(await balanceOf(stack, payer.accountId)).toBe(`${count * amount}.0000`);
    const left = 100_000_000 - count * amount;
    expect(await readBalance(partner)).toMatchObject({ balance: `${left}.0000`, pending: '0.0000' });
  }, 1_200_000);
});
