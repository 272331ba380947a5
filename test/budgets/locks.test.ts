import type { EntityManager } from '@mikro-orm/postgresql';
import { budgets } from '../../src/shared/budgets.ts';
import { openDatabase } from '../../src/wiring/open-database.ts';
import { buildPayer, payoutBody } from '../money-out/payouts/build-payouts.ts';
import { type BuiltUser, balanceOf, buildIndividual } from '../support/build.ts';
import { openPoolAccount } from '../support/build-targets.ts';
import { readLockWaits, untilLocked } from '../support/lock-waits.ts';
import { type BuiltPartner, freshKey } from '../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
let payer: BuiltUser;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startStack({ isImpatient: true, worker: true, sandbox: true });
  payer = await buildIndividual(stack, { balance: '1000000' });
  partner = await buildPayer(stack);
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const { lock } = budgets.database.role;

/** Runs a statement and holds its locks until the returned function releases them. */
async function hold(statement: string, parameters: unknown[]): Promise<() => Promise<void>> {
  const em: EntityManager = stack.owner();
  await em.begin();
  await em.execute('set local idle_in_transaction_session_timeout = 0');
  await em.execute('set local transaction_timeout = 0');
  await em.execute(statement, parameters);
  return () => em.rollback();
}

const journals = async () => (await stack.em().execute<[{ count: string }]>('select count(*) from journals'))[0].count;

describe('Held locks', () => {
  it('A payment that waits too long for a lock gets a 503, writes nothing and succeeds on retry', async () => {
    const body = {
      source_account_id: payer.accountId,
      reference_type: 'charitable_cause_open_donate',
      reference_id: openPoolAccount,
      amount: 10_000,
    };
    const headers = { 'idempotency-key': freshKey() };
    const pay = () => stack.post('/v1/payments/balance', body, { token: payer.token, headers });
    const before = await journals();
    const release = await hold('select 1 from account_balances where account_id = ? for update', [payer.accountId]);
    const startedAt = performance.now();
    const answer = await pay();
    const elapsed = performance.now() - startedAt;
    await release();
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2']);
    expect(answer.body.message).toBe('The service is temporarily unavailable; try again');
    expect(elapsed).toBeGreaterThan(lock - 100);
    expect(elapsed).toBeLessThan(lock + 3000);
    expect(await journals()).toBe(before);
    expect((await pay()).status).toBe(201);
    expect(await balanceOf(stack, payer.accountId)).toBe('990000.0000');
  }, 30_000);

  it('A payout whose reservation waits too long for a lock is retried and succeeds', async () => {
    const release = await hold('select 1 from partners where id = ? for update', [partner.id]);
    const asking = partner.post('/payouts', payoutBody());
    const [first] = await untilLocked(stack);
    // Once its connection no longer waits, the first attempt has given up.
    const isGone = async () => !(await readLockWaits(stack)).some(({ pid }) => pid === first?.pid);
    // The wait is brief: poll often.
    await eventually(isGone, (gone) => gone, lock * 3, { slowestMs: 20 });
    await release();
    const { status, body } = await asking;
    expect({ status, body }).toMatchObject({ status: 200, body: { data: { status: 'pending' } } });
  }, 60_000);
});

describe('Transactions terminated by the database', () => {
  it('The pool replaces connections whose transactions the database terminated', async () => {
    const poolSize = 2;
    await using orm = await openDatabase({ url: stack.env.DATABASE_URL ?? '', poolSize });
    for (let place = 0; place <= poolSize; place += 1) {
      const ended = orm.em.fork().transactional((tx) => tx.execute('select pg_terminate_backend(pg_backend_pid())'));
      await expect(ended).rejects.toMatchObject({ code: '57P01' });
      const idle = orm.em.fork().transactional(async (tx) => {
        await tx.execute('set local idle_in_transaction_session_timeout = 50');
        await new Promise((resolve) => setTimeout(resolve, 300));
        await tx.execute('select 1');
      });
      await expect(idle).rejects.toThrow();
    }
    expect(await orm.em.fork().execute('select 1 as one')).toEqual([{ one: 1 }]);
  });
});
