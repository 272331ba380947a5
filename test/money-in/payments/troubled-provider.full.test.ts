import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { ageAttempts, buildPayer, payoutBody, readBalance, readPayout } from '../../money-out/payouts/build-payouts.ts';
import { type BuiltUser, balanceOf, buildIndividual } from '../../support/build.ts';
import type { HttpAnswer } from '../../support/http.ts';
import { type BuiltPartner, freshKey } from '../../support/partner.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

/** The number of concurrent top-ups, and of concurrent payouts. */
const count = isFullRun() ? 100 : 8;
/** The number of concurrent partners' payments; fewer, because their requests wait longest. */
const collections = 8;
const amount = 10_000;

/** How often the provider gave each answer, by kind of request. */
const faultsMet = { payments: new Map<number, number>(), payouts: new Map<number, number>() };
/** A request left unanswered. */
const nothing = 0;
let provider = '';

/** A proxy to the sandbox that counts its answers to requests that create something. */
const door = createServer((asked, told) => {
  const kind = asked.method === 'POST' ? (asked.url?.includes('payouts') ? 'payouts' : 'payments') : null;
  let isAnswered = false;
  const count = (status: number) => {
    isAnswered = true;
    if (kind !== null) faultsMet[kind].set(status, (faultsMet[kind].get(status) ?? 0) + 1);
  };
  const onward = request(
    new URL(asked.url ?? '', provider),
    { method: asked.method, headers: asked.headers },
    (answer) => {
      count(answer.statusCode ?? nothing);
      told.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(told);
    },
  );
  onward.on('error', () => told.destroy());
  told.on('close', () => {
    if (!isAnswered) count(nothing);
    onward.destroy();
  });
  asked.pipe(onward);
});

let stack: Stack;
let payer: BuiltUser;
let partner: BuiltPartner;
beforeAll(async () => {
  door.listen(0, '127.0.0.1');
  await once(door, 'listening');
  const address = door.address();
  if (typeof address !== 'object' || address === null) throw new Error('the door has no address');
  const env = { XENDIT_URL: `http://127.0.0.1:${address.port}` };
  stack = await startStack({ isImpatient: true, worker: true, sandbox: true, env });
  provider = stack.sandbox.url;
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(async () => {
  await stack?.stop();
  door.closeAllConnections();
  door.close();
});
beforeEach(async () => {
  for (const met of Object.values(faultsMet)) met.clear();
  payer = await buildIndividual(stack);
  partner = await buildPayer(stack, { available: '100000000' });
});

/** Returns the id of what was created or is in progress: a 504 names the partner's payment. */
const idIn = ({ body }: HttpAnswer): string | undefined =>
  body.data?.payment_order_id ?? body.data?.id ?? body.error?.details?.payment_id;

/** Sends each request under its own key and retries until it is answered; records the answers on the way. */
async function insistAll(ask: (key: string) => Promise<HttpAnswer>, many = count) {
  const met = new Set<number>();
  const ids = await Promise.all(
    Array.from({ length: many }, async () => {
      const key = freshKey();
      const answer = await eventually(
        async () => {
          const told = await ask(key);
          met.add(told.status);
          return told;
        },
        (told) => idIn(told) !== undefined,
        240_000,
      );
      return String(idIn(answer));
    }),
  );
  expect(new Set(ids).size).toBe(many);
  return { met, ids };
}

const topUp = (key: string) =>
  stack.post(
    '/v1/payments/gateway',
    { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount },
    { token: payer.token, headers: { 'idempotency-key': key } },
  );
const collect = (key: string) =>
  partner.post('/payments', { method: 'virtual_account', channel: 'BNI', amount: String(amount) }, key);
const payOut = (key: string) => partner.post('/payouts', payoutBody({ amount: String(amount) }), key);

/** Checks that the provider has each reference once. */
async function expectOnceAtProvider(what: 'payments' | 'transfers', ids: string[]): Promise<void> {
  const records: { reference_id: string }[] = (await stack.sandbox.get('/sandbox/records')).body[what];
  const wanted = new Set(ids);
  const found = records.map(({ reference_id }) => reference_id).filter((id) => wanted.has(id));
  expect(found.toSorted()).toEqual(ids.toSorted());
}

/** The next attempt follows the last within five minutes, however many have failed. */
const nextAttemptMs = 360_000;

/** Pays once the provider has returned a code; waits for `paid`. */
async function payWhenAsked(read: () => Promise<HttpAnswer>, paid: string): Promise<void> {
  const readData = async () => (await read()).body.data;
  const { payment_code } = await eventually(readData, (payment) => payment?.payment_code != null, nextAttemptMs);
  await stack.sandbox.post('/sandbox/pay', { payment_code });
  await eventually(readData, (payment) => payment?.status === paid, 240_000);
}
const endTopUp = (id: string) =>
  payWhenAsked(() => stack.get(`/v1/payments/orders/${id}`, { token: payer.token }), 'PAID');
const endCollection = (id: string) => payWhenAsked(() => partner.get(`/payments/${id}`), 'succeeded');

/**
 * Waits until a payout succeeds. Backdates each attempt that the provider does not list by 15 minutes, once, so that it
 * is soon repeated; one that is a day old never is.
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

/** In each case some answer leaves unknown whether the request was executed. */
const troubles: [string, object, met: number[]][] = [
  [
    'a third of all requests with 500, another third with 429',
    { error_rate: 0.33, limit_rate: 0.33, retry_after_seconds: 1 },
    [429, 500],
  ],
  [
    'a quarter of all requests with nothing after executing them, and a quarter with 500',
    { error_rate: 0.25, hang_rate: 0.25, hang_after_effect: true },
    [nothing, 500],
  ],
];

describe.each(isFullRun() ? troubles : troubles.slice(0, 1))('While the provider answers %s', (_, requests, wanted) => {
  it(`A failing provider executes ${count} top-ups, ${count} payouts and ${collections} collections once`, async () => {
    await stack.sandbox.put('/sandbox/faults', { requests });
    const [topUps, collected, payouts] = await Promise.all([
      insistAll(topUp),
      insistAll(collect, collections),
      insistAll(payOut),
    ]);
    await stack.sandbox.put('/sandbox/faults', {});
    // Payments and payouts each met a fault, and every fault was met.
    const kinds = Object.values(faultsMet);
    expect(kinds.map((met) => wanted.some((status) => met.has(status)))).toEqual([true, true]);
    expect(wanted.filter((status) => kinds.some((met) => met.has(status)))).toEqual(wanted);
    // Anything else would be a refusal.
    for (const { met } of [topUps, collected, payouts]) {
      expect([...met].filter((status) => ![200, 201, 503, 504].includes(status))).toEqual([]);
    }
    await Promise.all([
      ...topUps.ids.map(endTopUp),
      ...collected.ids.map(endCollection),
      ...payouts.ids.map(endPayout),
    ]);
    await expectOnceAtProvider('payments', [...topUps.ids, ...collected.ids]);
    await expectOnceAtProvider('transfers', payouts.ids);
    expect(await balanceOf(stack, payer.accountId)).toBe(`${count * amount}.0000`);
    const left = 100_000_000 + (collections - count) * amount;
    expect(await readBalance(partner)).toMatchObject({ balance: `${left}.0000`, pending: '0.0000' });
  }, 1_200_000);
});
