import { systemAccounts } from '../../../src/ledger/accounts/account.ts';
import { openAccount } from '../../../src/ledger/accounts/open-account.ts';
import { closeDays } from '../../../src/ledger/seals/close-days.ts';
import { armFailpoints } from '../../../src/shared/failpoint.ts';
import { newId } from '../../../src/shared/ids.ts';
import { addMoney } from '../../../src/shared/money.ts';
import { buildPlatformAdmin } from '../../support/build.ts';
import { itInFull } from '../../support/full.ts';
import { plantJournal } from '../../support/plant-journal.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { backdate } from '../exports/build-days.ts';
import { sealAll } from './build-seals.ts';

let stack: Stack;
let accounts: string[];
/** Each posting inserted into one of the accounts. */
const posted: { accountId: string; at: string; amount: string }[] = [];
beforeAll(async () => {
  stack = await startStack({ own: true });
  const owner = stack.owner();
  accounts = [];
  for (const name of ['Busy', 'Seldom', 'Late'])
    accounts.push(await owner.transactional((tx) => openAccount(tx, { kind: 'user', name })));
});
afterAll(() => stack.stop());

/** Inserts a journal that moved an amount into one of the accounts at an instant. */
async function postAt(place: number, at: string, amount: string): Promise<void> {
  const accountId = accounts[place] ?? '';
  const id = await plantJournal(stack.owner(), {
    kind: 'test.closed',
    businessKey: `test/closed/${newId()}`,
    postings: [
      { accountId: systemAccounts.gatewayClearing, amount: `-${amount}` },
      { accountId, amount },
    ],
  });
  await backdate(stack, [String(id)], at);
  posted.push({ accountId, at, amount });
}

const closedDays = async () =>
  (await stack.em().execute<{ day: string }[]>('select day::text from closed_days order by day')).map(({ day }) => day);
const balanceBefore = async (accountId: string, at: string) =>
  (
    await stack
      .em()
      .execute<[{ balance: string }]>('select balance_before(?, ?)::numeric(20, 4)::text as balance', [accountId, at])
  )[0].balance;
const summedBefore = (accountId: string, at: string) =>
  addMoney(
    '0',
    ...posted
      .filter((posting) => posting.accountId === accountId && (at === 'infinity' || posting.at < at))
      .map(({ amount }) => amount),
  );

/** Around each midnight of UTC+7, within days, before and after everything. */
const instants = [
  '-infinity',
  '2026-03-01T16:59:59.999Z',
  '2026-03-01T17:00:00.000Z',
  '2026-03-02T05:00:00.000Z',
  '2026-03-02T17:00:00.000Z',
  '2026-03-02T17:00:00.001Z',
  '2026-03-05T17:00:00.000Z',
  '2026-03-06T02:00:00.000Z',
  '2026-03-08T00:00:00.000Z',
  '2027-01-01T00:00:00.000Z',
  'infinity',
];
async function expectBalances(): Promise<void> {
  for (const accountId of accounts) {
    for (const at of instants)
      expect([at, await balanceBefore(accountId, at)]).toEqual([
        at,
        at === '-infinity' ? '0.0000' : summedBefore(accountId, at),
      ]);
  }
}

describe('The closing of a day', () => {
  it('A day is not closed before it is sealed, and balances are the sums of postings', async () => {
    await postAt(0, '2026-03-01T16:59:59.999Z', '1');
    await postAt(1, '2026-03-01T17:00:00.000Z', '10');
    await postAt(0, '2026-03-02T16:59:59.999Z', '100');
    await postAt(0, '2026-03-02T17:00:00.000Z', '1000');
    await postAt(0, '2026-03-06T01:00:00.000Z', '10000');
    await postAt(2, '2026-03-07T01:00:00.000Z', '100000');
    expect(await closeDays(stack.em())).toEqual([]);
    expect(await closedDays()).toEqual([]);
    await expectBalances();
  });

  it('A day is closed once it is sealed, after the day before, without changing a balance', async () => {
    const { token } = await buildPlatformAdmin(stack);
    const read = async () => {
      const answers: unknown[] = [];
      for (const day of ['2026-03-01', '2026-03-02', '2026-03-03', '2026-03-05', '2026-03-06', '2026-03-07'])
        answers.push((await stack.get(`/v1/exports/balances?day=${day}`, { token })).body.data.rows);
      for (const query of ['?from=2026-03-02&to=2026-03-02', '?from=2026-03-04', '?to=2026-03-01T16:59:59.999Z'])
        answers.push((await stack.get(`/v1/accounts/${accounts[0]}/statement${query}`, { token })).body.data);
      return answers;
    };
    await sealAll(stack);
    const before = await read();
    // A run that fails between two days leaves the first closed, and the next run closes the rest.
    armFailpoints('close-days.after=throw');
    await expect(closeDays(stack.em())).rejects.toThrow('failpoint');
    armFailpoints(undefined);
    expect(await closedDays()).toEqual(['2026-03-01']);
    const closed = await closeDays(stack.em());
    expect(closed.slice(0, 2)).toEqual(['2026-03-02', '2026-03-03']);
    expect(await closedDays()).toEqual(['2026-03-01', ...closed]);
    const rows = await stack.em().execute<{ account_id: string; day: string; balance: string }[]>(
      `select account_id, day::text, balance::numeric(20, 4)::text from closings
       where account_id = any (?::uuid[]) order by day, balance`,
      [`{${accounts.join(',')}}`],
    );
    expect(rows).toEqual([
      { account_id: accounts[0], day: '2026-03-01', balance: '1.0000' },
      { account_id: accounts[1], day: '2026-03-02', balance: '10.0000' },
      { account_id: accounts[0], day: '2026-03-02', balance: '101.0000' },
      { account_id: accounts[0], day: '2026-03-03', balance: '1101.0000' },
      { account_id: accounts[0], day: '2026-03-06', balance: '11101.0000' },
      { account_id: accounts[2], day: '2026-03-07', balance: '100000.0000' },
    ]);
    expect(await read()).toEqual(before);
    await expectBalances();
    await expectChecksEmpty(stack);
  });

  itInFull('A day is closed once, even by concurrent sessions', async () => {
    const last = (await closedDays()).at(-1);
    // Removes the closings of all days after 2 March.
    await stack.owner().transactional(async (tx) => {
      await tx.execute("set local session_replication_role = 'replica'");
      await tx.execute(`delete from closings where day > date '2026-03-02'`);
      await tx.execute(`delete from closed_days where day > date '2026-03-02'`);
    });
    const closers = await Promise.all(Array.from({ length: 5 }, () => closeDays(stack.em())));
    const closed = closers.flat().toSorted();
    expect(closed[0]).toBe('2026-03-03');
    expect(closed.at(-1)).toBe(last);
    expect(new Set(closed).size).toBe(closed.length);
    expect(await closeDays(stack.em())).toEqual([]);
    await expectBalances();
    await expectChecksEmpty(stack);
  });

  it('A closed day never changes', async () => {
    for (const sql of [
      'update closings set balance = 0',
      'delete from closings',
      'truncate closings',
      "update closed_days set day = '2020-01-01'",
      'delete from closed_days',
      'truncate closed_days',
    ])
      await expect(stack.owner().execute(sql)).rejects.toMatchObject({ code: 'AM003' });
  });
});
