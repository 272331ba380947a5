import { systemAccounts } from '../../src/ledger/accounts/account.ts';
import { openAccount } from '../../src/ledger/accounts/open-account.ts';
import { errorCodeOf } from '../../src/shared/errors.ts';
import { newId } from '../../src/shared/ids.ts';
import { negateMoney } from '../../src/shared/money.ts';
import { plantJournal } from '../support/plant-journal.ts';
import { isFullRun } from '../support/run.ts';
import { expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const account = () => stack.em().transactional((tx) => openAccount(tx, { kind: 'user', name: 'Pocket' }));

const move = (from: string, to: string, amount: string, businessKey = `test/${newId()}`) =>
  plantJournal(stack.owner(), {
    kind: 'test',
    businessKey,
    postings: [
      { accountId: from, amount: negateMoney(amount) },
      { accountId: to, amount },
    ],
  });

const balanceOf = async (id: string): Promise<string> => {
  const rows = await stack.em().execute<{ balance: string }[]>('select account_balance(?)::text as balance', [id]);
  return rows[0]?.balance ?? '';
};

const codeOf = (work: Promise<unknown>): Promise<unknown> => work.then(() => 'no error', errorCodeOf);

describe('A journal', () => {
  it('A journal moves money between two accounts, and the balances follow from its postings', async () => {
    const [from, to] = [await account(), await account()];
    await move(systemAccounts.gatewayClearing, from, '100.0000');
    await move(from, to, '99.9999');
    expect(await balanceOf(from)).toBe('0.0001');
    expect(await balanceOf(to)).toBe('99.9999');
  });

  it('A journal is posted once per business key, and posting it again returns null', async () => {
    const once = `test/once/${newId()}`;
    const to = await account();
    expect(await move(systemAccounts.gatewayClearing, to, '5', once)).not.toBeNull();
    expect(await move(systemAccounts.gatewayClearing, to, '5', once)).toBeNull();
    expect(await balanceOf(to)).toBe('5.0000');
  });

  it('A journal is posted once per business key, even concurrently', async () => {
    const many = `test/many/${newId()}`;
    const to = await account();
    const posts = Array.from({ length: isFullRun() ? 50 : 15 }, () =>
      move(systemAccounts.gatewayClearing, to, '5', many),
    );
    expect((await Promise.all(posts)).filter((id) => id !== null)).toHaveLength(1);
    expect(await balanceOf(to)).toBe('5.0000');
  });

  it('A refused journal leaves its business key unused', async () => {
    const free = `test/free/${newId()}`;
    const [from, to] = [await account(), await account()];
    expect(await codeOf(move(from, to, '1', free))).toBe('AM001');
    await move(systemAccounts.gatewayClearing, from, '1');
    expect(await move(from, to, '1', free)).not.toBeNull();
  });

  it('A journal is refused as a whole if an account would go below zero', async () => {
    const [from, to] = [await account(), await account()];
    await move(systemAccounts.gatewayClearing, from, '10');
    expect(await codeOf(move(from, to, '10.0001'))).toBe('AM001');
    expect(await balanceOf(from)).toBe('10.0000');
    expect(await balanceOf(to)).toBe('0.0000');
  });

  it('Of concurrent journals of 1 from a balance of 10, exactly ten are posted', async () => {
    const asking = isFullRun() ? 50 : 20;
    const [from, to] = [await account(), await account()];
    await move(systemAccounts.gatewayClearing, from, '10');
    const outcomes = await Promise.all(Array.from({ length: asking }, () => codeOf(move(from, to, '1'))));
    expect(outcomes.filter((outcome) => outcome === 'no error')).toHaveLength(10);
    expect(outcomes.filter((outcome) => outcome === 'AM001')).toHaveLength(asking - 10);
    expect(await balanceOf(from)).toBe('0.0000');
    expect(await balanceOf(to)).toBe('10.0000');
  });

  it('Concurrent journals in both directions between two accounts never deadlock', async () => {
    const [left, right] = [await account(), await account()];
    await move(systemAccounts.gatewayClearing, left, '100');
    await move(systemAccounts.gatewayClearing, right, '100');
    await Promise.all(
      Array.from({ length: 60 }, (_, index) => (index % 2 === 0 ? move(left, right, '1') : move(right, left, '1'))),
    );
    expect(await balanceOf(left)).toBe('100.0000');
    expect(await balanceOf(right)).toBe('100.0000');
  });
});

describe('Statements that the database refuses', () => {
  // Runs as the owner, so that a trigger must refuse. test/platform/database tests the application's missing rights.
  const run = (sql: string) => codeOf(stack.owner().execute(sql));

  it('The database refuses a journal that does not sum to zero', async () => {
    const to = await account();
    const sql = `select write_journal('${newId()}', 'test/unbalanced', 'test',
      array['${systemAccounts.gatewayClearing}', '${to}']::uuid[], array[-1, 2]::numeric[])`;
    expect(await run(sql)).toBe('AM002');
  });

  it('The database refuses a journal of one posting, and one for a missing account', async () => {
    const to = await account();
    expect(
      await run(`select write_journal('${newId()}', 'test/one', 'test', array['${to}']::uuid[], array[1]::numeric[])`),
    ).toBe('AM002');
    const nobody = newId();
    expect(
      await run(`select write_journal('${newId()}', 'test/nobody', 'test',
        array['${systemAccounts.gatewayClearing}', '${nobody}']::uuid[], array[-1, 1]::numeric[])`),
    ).toBe('AM002');
  });

  it('The database refuses postings added to a journal later, even balanced ones', async () => {
    const to = await account();
    const journalId = await move(systemAccounts.gatewayClearing, to, '1');
    expect(
      await run(`insert into postings (journal_id, account_id, amount) values
        ('${journalId}', '${systemAccounts.gatewayClearing}', -1), ('${journalId}', '${to}', 1)`),
    ).toBe('AM002');
  });

  it.each([
    ['a changed posting', 'update postings set amount = amount'],
    ['a deleted posting', 'delete from postings'],
    ['truncated postings', 'truncate postings cascade'],
    ['a changed journal', "update journals set kind = 'other'"],
    ['a changed key of a journal', "update journal_keys set business_key = 'other'"],
    ['a deleted key of a journal', 'delete from journal_keys'],
    ['truncated keys of journals', 'truncate journal_keys'],
    ['truncated keys of callbacks', 'truncate callback_keys'],
    ['truncated keys of webhooks', 'truncate webhook_version_keys'],
    ['truncated transactions', 'delete from transactions where true'],
    ['a balance written directly', 'update account_balances set balance = balance + 1'],
    ['a balance deleted directly', 'delete from account_balances'],
    ['a deleted account', 'delete from accounts'],
    ['an account of another kind', "update accounts set kind = 'suspense'"],
  ])('The database refuses %s', async (_, sql) => {
    await move(systemAccounts.gatewayClearing, await account(), '1');
    if (sql.includes('transactions')) {
      // A row trigger needs a row to refuse; the tests of payments cover transactions.
      expect(await run('truncate transactions')).toBe('AM003');
      return;
    }
    expect(await run(sql)).toBe('AM003');
  });
});
