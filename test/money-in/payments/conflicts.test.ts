import { must } from '../../../src/shared/assert.ts';
import { askFor, balanceWays, expectOneUnder, notAtAll, readPaid, wholly } from '../../e2e/balance-ways.ts';
import {
  buildPayer,
  magicAccount,
  payoutBody,
  payoutWhen,
  readBalance,
  settleAtProvider,
  transfersOf,
} from '../../money-out/payouts/build-payouts.ts';
import { balanceOf, buildIndividual } from '../../support/build.ts';
import { casesOf, itInFull } from '../../support/full.ts';
import { holdTable } from '../../support/hold-table.ts';
import { untilLocked } from '../../support/lock-waits.ts';
import { freshKey } from '../../support/partner.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ isImpatient: true, worker: true, sandbox: true });
  // A sequence is not transactional, so it also counts what is rolled back.
  await stack.owner().execute(`create sequence planted_conflicts;
    create function plant_conflict() returns trigger language plpgsql security definer
    set search_path = pg_catalog, public as $$ begin
      if nextval('planted_conflicts') <= tg_argv[1]::bigint then
        raise exception 'a conflict that was planted' using errcode = tg_argv[0];
      end if;
      return new;
    end $$`);
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack?.stop());
afterEach(() => unplant());

const unplant = () =>
  stack.owner().execute('drop trigger if exists planted on journals; drop trigger if exists planted on postings');

/** Where PostgreSQL may detect a conflict: at a statement, or only at the commit. */
const moments = {
  'while it is written': 'create trigger planted before insert on journals for each row',
  'at its commit':
    'create constraint trigger planted after insert on postings deferrable initially deferred for each row',
} as const;
const conflicts = { 'a serialization failure': '40001', 'a deadlock': '40P01' } as const;

/** Makes the next transactions that write a journal fail with this error. */
async function plant(trigger: string, code: string, count: number): Promise<void> {
  await unplant();
  await stack
    .owner()
    .execute(
      `alter sequence planted_conflicts restart; ${trigger} execute function plant_conflict('${code}', '${count}')`,
    );
}

/** How many transactions met the planted conflict, or started after it. */
const met = async (): Promise<number> =>
  Number((await stack.owner().execute<[{ met: string }]>('select last_value as met from planted_conflicts'))[0].met);

const every = Object.entries(conflicts).flatMap(([conflict, code]) =>
  Object.entries(moments).map(([moment, trigger]) => ({ conflict, code, moment, trigger })),
);
/** Outside the full run only a deadlock at a statement and a serialization failure at the commit. */
const chosen = isFullRun() ? every : every.filter(({ code, moment }) => (code === '40P01') === /written/.test(moment));

describe.each(chosen)('$conflict of a transaction $moment', ({ code, moment, trigger }) => {
  const isAtCommit = moment === 'at its commit';
  const [atCommit, whileWritten] = isAtCommit ? [it, itInFull] : [itInFull, it];

  it.each(
    casesOf(Object.entries(balanceWays), ([, { isOneStatement }], index) => index > 0 && isOneStatement === isAtCommit),
  )('A transaction conflict rolls back %s and returns 503, and a retry with the same key pays once', async (_, way) => {
    const request = await way.build(stack);
    const key = freshKey();
    await plant(trigger, code, 1);
    const answer = await askFor(stack, request, key);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)]);
    expect(await readPaid(stack, request)).toEqual(notAtAll);
    await expectOneUnder(stack, key, request);
  });

  whileWritten(
    'After a transaction conflict in a batch of donations, each one is complete or absent, and none is refused',
    async () => {
      const first = await must(balanceWays['a donation'], 'a donation is a way to pay').build(stack);
      /**
       * Lets twelve donors donate to one cause; returns how many had to retry, after three transactions met the
       * conflict.
       */
      const giveTogether = async (): Promise<number> => {
        const requests = await Promise.all(
          Array.from({ length: 12 }, async () => {
            const payer = await buildIndividual(stack, { balance: '1000000' });
            return { ...first, payer, body: { ...first.body, source_account_id: payer.accountId } };
          }),
        );
        await plant(trigger, code, 3);
        const made = requests.map((request) => ({ request, key: freshKey() }));
        // At most two transactions are running, held here; those queued behind them are written together.
        await using held = await holdTable(stack, 'journals');
        const asked = Promise.all(made.map(({ request, key }) => askFor(stack, request, key)));
        await untilLocked(stack, { count: 2 });
        await held[Symbol.asyncDispose]();
        const answers = await asked;
        expect(await met()).toBeGreaterThan(3);
        const refused = answers.filter(({ status, headers }) => status !== 201 && !headers.has('retry-after'));
        expect(refused).toEqual([]);
        for (const [index, { request, key }] of made.entries()) {
          expect(await readPaid(stack, request)).toEqual(answers[index]?.status === 201 ? wholly : notAtAll);
          await expectOneUnder(stack, key, request);
        }
        return answers.filter(({ status }) => status !== 201).length;
      };
      // A payment alone gets a 503; payments written together are retried one by one and do not. On a busy machine each
      // may arrive alone.
      await eventually(giveTogether, (told) => told < 3, 60_000);
    },
    120_000,
  );

  whileWritten(
    'After transaction conflicts, the settlement of a top-up is retried until it is booked once',
    async () => {
      const payer = await buildIndividual(stack);
      const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 };
      const { data } = (await stack.post('/v1/payments/gateway', body, { token: payer.token })).body;
      await plant(trigger, code, 3);
      await stack.sandbox.post('/sandbox/pay', { payment_code: data.payment_code });
      await eventually(
        async () => (await stack.get(`/v1/payments/orders/${data.payment_order_id}`, { token: payer.token })).body.data,
        ({ status }) => status === 'PAID',
        90_000,
      );
      expect(await met()).toBeGreaterThan(3);
      expect(await balanceOf(stack, payer.accountId)).toBe('50000.0000');
      expect((await stack.get('/v1/transactions', { token: payer.token })).body.data.count).toBe(2);
    },
    120_000,
  );

  atCommit(
    'After transaction conflicts, a payout’s reservation and completion are retried until each is booked once',
    async () => {
      const partner = await buildPayer(stack);
      const key = freshKey();
      // This transfer completes only when the test settles it, after it has planted more conflicts.
      const bank_account_number = magicAccount('131313');
      await plant(trigger, code, 2);
      const answer = await eventually(
        () => partner.post('/payouts', payoutBody({ bank_account_number }), key),
        ({ status }) => status !== 503,
      );
      expect(answer.status).toBe(200);
      expect(await met()).toBeGreaterThan(2);
      const { id } = answer.body.data;
      await eventually(
        () => transfersOf(stack, id),
        ({ length }) => length === 1,
      );
      await plant(trigger, code, 2);
      await settleAtProvider(stack, id, 'SUCCEEDED');
      await payoutWhen(partner, id, 'succeeded', 90_000);
      expect(await met()).toBeGreaterThan(2);
      expect(await transfersOf(stack, id)).toHaveLength(1);
      expect(await readBalance(partner)).toMatchObject({ balance: '900000.0000', pending: '0.0000' });
    },
    120_000,
  );
});

/** Returns the number of deadlocks in the stack's database since its creation. */
const deadlocks = async (): Promise<number> =>
  (
    await stack
      .owner()
      .execute<{ count: number }[]>(
        'select deadlocks::int as count from pg_stat_database where datname = current_database()',
      )
  )[0]?.count ?? 0;

describe('A deadlock of two transactions', () => {
  it.each(casesOf(Object.entries(balanceWays), ([name]) => name === 'a donation'))(
    'If PostgreSQL aborts %s to resolve a deadlock, the response is 503, and a retry with the same key pays once',
    async (_, way) => {
      const request = await way.build(stack);
      const key = freshKey();
      const before = await deadlocks();
      const lockOfPayer = 'select from account_balances where account_id = ? for update';
      const [first, other] = [stack.owner(), stack.owner()];
      await first.begin();
      await other.begin();
      try {
        // Only a payment that waits for its account's lock waits long enough for PostgreSQL to detect a deadlock.
        await first.execute(lockOfPayer, [request.payer.accountId]);
        const asked = askFor(stack, request, key);
        await untilLocked(stack, { text: 'lock_source' });
        // PostgreSQL aborts whichever transaction checks for the deadlock first: the payment, after a second.
        await other.execute("set local deadlock_timeout = '1min'");
        await other.execute('lock table account_balances in share mode');
        await using held = await holdTable(stack, 'journals');
        await first.rollback();
        await untilLocked(stack, { text: 'pay_from_balance' });
        // The payment has locked its payer's balance, and is about to write it.
        const waiting = other.execute(lockOfPayer, [request.payer.accountId]);
        // Only the owner role sees other sessions.
        await untilLocked({ em: stack.owner }, { count: 2 });
        await held[Symbol.asyncDispose]();
        const answer = await asked;
        expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)]);
        await waiting;
      } finally {
        if (first.isInTransaction()) await first.rollback();
        await other.rollback();
      }
      await eventually(deadlocks, (count) => count === before + 1);
      expect(await readPaid(stack, request)).toEqual(notAtAll);
      await expectOneUnder(stack, key, request);
    },
    60_000,
  );
});
