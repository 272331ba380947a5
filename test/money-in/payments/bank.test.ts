import { asAClient } from '../../support/as-a-client.ts';
import { type BuiltUser, balanceOf, buildIndividual, buildPlatformAdmin } from '../../support/build.ts';
import { buildActiveCause, buildProduct } from '../../support/build-targets.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { buildClerk, expectClerksEven } from './bank-clerks.ts';

/**
 * The bank test: many clients pay, top up and transfer at random, and partners pay out and refund, while others read
 * the totals.
 */
const clients = isFullRun() ? 64 : 4;
const partners = isFullRun() ? 16 : 3;
const seconds = isFullRun() ? 30 : 2;
/** The fewest requests that each client completes, however busy the machine is. */
const leastDeeds = 3;
const opening = 100_000;

let stack: Stack;
let admin: BuiltUser;
beforeAll(async () => {
  stack = await startStack({
    isImpatient: true,
    worker: true,
    sandbox: true,
    ...(isFullRun() && { env: { RATE_LIMIT_REQUESTS_PER_10S: '100000' } }),
  });
  admin = await buildPlatformAdmin(stack);
}, 60_000);
afterAll(() => stack.stop());

interface Acknowledged {
  transactions: string[];
  topUps: string[];
}

const random = (limit: number) => Math.floor(Math.random() * limit);
const pick = <T>(items: readonly T[]): T => items[random(items.length)] as T;

describe('The bank', () => {
  it(`The books balance while ${clients} clients and ${partners} partners move money for ${seconds} s`, async () => {
    const people = await Promise.all(
      Array.from({ length: clients }, () => buildIndividual(stack, { balance: String(opening) })),
    );
    const pockets = await Promise.all(
      people.map(async ({ token }) => {
        const made = await asAClient(() => stack.post('/v1/accounts', { name: 'Pocket' }, { token }));
        return made.body.data.id;
      }),
    );
    const cause = await buildActiveCause(stack);
    const products = [
      await buildProduct(stack, admin, { kind: 'investment' }),
      await buildProduct(stack, admin, { kind: 'investment', target: '5000' }),
    ];
    const clerks: Awaited<ReturnType<typeof buildClerk>>[] = [];
    // One after another, because each payment must be paid on a possibly busy machine.
    while (clerks.length < partners) clerks.push(await buildClerk(stack));
    const until = Date.now() + seconds * 1000;
    const acknowledged: Acknowledged = { transactions: [], topUps: [] };
    const refusals = new Map<number, number>();
    const late: string[] = [];
    const act = async (index: number): Promise<void> => {
      const person = people[index] as BuiltUser;
      const accounts = [person.accountId, pockets[index] as string];
      const token = person.token;
      for (let done = 0; done < leastDeeds || Date.now() < until; ) {
        const source_account_id = pick(accounts);
        const amount = 1 + random(20_000);
        // Everyone starts with a top-up.
        const choice = done === 0 ? 0 : random(20);
        const answer =
          choice === 0
            ? await stack.post(
                '/v1/payments/gateway',
                { reference_type: 'account_top_up', reference_id: pick(accounts), payment_id: 1, amount: 10_000 },
                { token },
              )
            : choice < 8
              ? await stack.post(
                  `/v1/accounts/${source_account_id}/transfers`,
                  { destination_account_id: pick(accounts), amount: `${amount}.0001` },
                  { token },
                )
              : await stack.post(
                  '/v1/payments/balance',
                  choice < 14
                    ? { reference_type: 'charitable_cause_donate', reference_id: cause.id, source_account_id, amount }
                    : { reference_type: 'investment', reference_id: pick(products).id, source_account_id, amount },
                  { token },
                );
        if (answer.status === 201) done += 1;
        if (answer.status !== 201) refusals.set(answer.status, (refusals.get(answer.status) ?? 0) + 1);
        else if (choice > 0) acknowledged.transactions.push(answer.body.data.transaction_id);
        else {
          const { payment_order_id, payment_code } = answer.body.data;
          acknowledged.topUps.push(payment_order_id);
          // On a busy machine the request does not wait for the provider, and the code arrives later.
          if (payment_code === null) late.push(payment_order_id);
          else await stack.sandbox.post('/sandbox/pay', { payment_code });
        }
      }
    };
    const payOut = async (clerk: (typeof clerks)[number]): Promise<void> => {
      while (clerk.made.length < leastDeeds || Date.now() < until) await clerk.act();
    };
    let reads = 0;
    const read = async (): Promise<void> => {
      while (reads <= 2 || Date.now() < until) {
        const [whole] = await stack.em().execute<{ total: string; lowest: string }[]>(
          `select sum(balance)::text as total, min(balance) filter (where not may_go_negative)::text as lowest
           from (select a.may_go_negative, sum(b.balance) as balance
             from accounts a join account_balances b on b.account_id = a.id group by a.id) held`,
        );
        expect(Number(whole?.total)).toBe(0);
        expect(Number(whole?.lowest)).toBeGreaterThanOrEqual(0);
        const { status, body } = await stack.get('/v1/accounts?kind=user&limit=100', { token: pick(people).token });
        // Together the clients may use every connection; reads then get a 503.
        if (status === 503) continue;
        for (const { balance } of body.data.items) expect(Number(balance)).toBeGreaterThanOrEqual(0);
        reads += 1;
      }
    };
    await Promise.all([...people.map((_, index) => act(index)), ...clerks.map(payOut), read(), read()]);

    expect(reads).toBeGreaterThan(2);
    // 503: a machine too busy to open a connection in time; nothing was acknowledged.
    expect([...refusals.keys()].filter((status) => status !== 400 && status !== 503)).toEqual([]);
    const found = await stack
      .em()
      .execute<{ id: string }[]>('select id from transactions where id = any(?::uuid[])', [
        `{${acknowledged.transactions.join(',')}}`,
      ]);
    expect(found).toHaveLength(acknowledged.transactions.length);
    expect(acknowledged.transactions.length).toBeGreaterThan(clients);
    const codeOf = async (id: string) =>
      (
        await stack
          .em()
          .execute<{ code: string | null }[]>('select payment_code as code from payment_orders where id = ?', [id])
      )[0]?.code;
    for (const id of late) {
      const payment_code = await eventually(
        () => codeOf(id),
        (code) => typeof code === 'string',
        60_000,
      );
      await stack.sandbox.post('/sandbox/pay', { payment_code });
    }
    expect(acknowledged.topUps.length).toBeGreaterThanOrEqual(people.length);
    await eventually(
      () =>
        stack
          .em()
          .execute<object[]>("select 1 from payment_orders where id = any(?::uuid[]) and status <> 'PAID'", [
            `{${acknowledged.topUps.join(',')}}`,
          ]),
      (open) => open.length === 0,
      60_000,
    );
    const moved = await expectClerksEven(stack, clerks);
    expect(moved.length).toBeGreaterThan(partners);
    const ended = new Set(moved.filter(({ status }) => status === 'succeeded').map(({ kind }) => kind));
    expect([...ended].toSorted()).toEqual(['partner_payout', 'payment_refund']);
    // Refused because the partner has too little or the payment has less left to refund; 503 and 504 are unknown.
    const whys = new Set(clerks.flatMap(({ refused }) => [...refused.keys()]));
    const may = /^(422 FUNDS_(INSUFFICIENT_BALANCE|REFUND_EXCEEDED)|50[34] .*)$/;
    expect([...whys].filter((why) => !may.test(why))).toEqual([]);
    await expectChecksEmpty(stack);
    expect(Number(await balanceOf(stack, products[1]?.accountId ?? ''))).toBeLessThanOrEqual(5000);
  }, 400_000);
});
