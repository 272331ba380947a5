import { itInFull } from '../support/full.ts';
import { holdTable } from '../support/hold-table.ts';
import { readLockWaits, untilLocked } from '../support/lock-waits.ts';
import { freshKey } from '../support/partner.ts';
import { type ProcessStack, startProcessStack } from '../support/processes.ts';
import { isFullRun } from '../support/run.ts';
import { eventually, expectChecksEmpty } from '../support/stack.ts';
import {
  askFor,
  type BalanceRequest,
  balanceWays,
  expectOneUnder,
  notAtAll,
  readPaid,
  wholly,
} from './balance-ways.ts';

let stack: ProcessStack;
beforeAll(async () => {
  stack = await startProcessStack();
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack?.stop());
afterEach(() => stack.restart());

/** Kills the API while its statement waits inside a transaction; returns the database process that ran it. */
async function killInTransaction(request: BalanceRequest, key: string): Promise<number> {
  const asked = askFor(stack, request, key).catch(() => null);
  await untilLocked(stack);
  const [waiting] = await readLockWaits(stack);
  await stack.kill('api');
  expect(await asked).toBeNull();
  return waiting?.pid ?? 0;
}

/** Waits until the database has ended the dead process's transaction and released its locks. */
const whenGone = (pid: number) =>
  eventually(
    () =>
      stack
        .em()
        .execute<unknown[]>('select from pg_stat_activity where pid = ? union all select from pg_locks where pid = ?', [
          pid,
          pid,
        ]),
    (rows) => rows.length === 0,
    20_000,
  );

/** Restarts the API, and retries a request that got no answer. */
async function retry(request: BalanceRequest, key: string): Promise<void> {
  await stack.restart();
  await expectOneUnder(stack, key, request);
}

const ways = Object.entries(balanceWays);

describe.each(isFullRun() ? ways : ways.slice(-1))('An API killed while %s is written', (_, way) => {
  const left = way.isOneStatement ? 'commits' : 'rolls back';

  it(`A transaction open when the API is killed ${left} and releases its locks, and a retry pays once`, async () => {
    const request = await way.build(stack);
    const key = freshKey();
    let pid: number;
    {
      await using _held = await holdTable(stack, 'account_balances');
      pid = await killInTransaction(request, key);
    }
    // The database notices the dead client only when it answers: a single statement is complete by then.
    await whenGone(pid);
    expect(await readPaid(stack, request)).toEqual(way.isOneStatement ? wholly : notAtAll);
    await retry(request, key);
  }, 120_000);

  // A test in budgets/role shows that the database aborts the waiting statement.
  itInFull(
    'The database rolls back a transaction that waits for a lock when the API is killed, and a retry pays once',
    async () => {
      const request = await way.build(stack);
      const key = freshKey();
      {
        await using _held = await holdTable(stack, 'account_balances');
        await whenGone(await killInTransaction(request, key));
      }
      expect(await readPaid(stack, request)).toEqual(notAtAll);
      await retry(request, key);
    },
    120_000,
  );

  it('A retry finds the payment if the API was killed between its commit and the response', async () => {
    const request = await way.build(stack);
    const key = freshKey();
    stack.arm('pay-from-balance.after=kill');
    expect(await askFor(stack, request, key).catch(() => null)).toBeNull();
    await stack.api.exited;
    expect(await readPaid(stack, request)).toEqual(wholly);
    await retry(request, key);
  }, 120_000);
});
