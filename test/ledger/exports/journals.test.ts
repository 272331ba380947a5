import { systemAccounts } from '../../../src/ledger/accounts/account.ts';
import { openAccount } from '../../../src/ledger/accounts/open-account.ts';
import { readJournals } from '../../../src/ledger/exports/read-journals.ts';
import { closeDays } from '../../../src/ledger/seals/close-days.ts';
import { bookDay } from '../../../src/ledger/seals/day-seal.ts';
import { westernIndonesiaDay } from '../../../src/shared/clock.ts';
import { newId } from '../../../src/shared/ids.ts';
import { addMoney } from '../../../src/shared/money.ts';
import {
  type BuiltUser,
  balanceOf,
  buildIndividual,
  buildOrganizationAdmin,
  buildPlatformAdmin,
} from '../../support/build.ts';
import { itInFull } from '../../support/full.ts';
import { plantJournal } from '../../support/plant-journal.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { sealAll } from '../seals/build-seals.ts';
import { backdate } from './build-days.ts';

interface Row {
  journal_id: string;
  kind: string;
  account_id: string;
  amount: string;
  created_at: string;
}

let stack: Stack;
let finance: BuiltUser;
let account: string;
beforeAll(async () => {
  stack = await startStack({ own: true });
  finance = await buildPlatformAdmin(stack);
  account = await stack.owner().transactional((tx) => openAccount(tx, { kind: 'user', name: 'Exported' }));
});
afterAll(() => stack.stop());

const journals = (query: string, accept = 'application/json', token = finance.token) =>
  stack.get(`/v1/exports/journals${query}`, { token, headers: { accept } });
const ofDay = (day: string, accept?: string) => journals(`?day=${day}`, accept);
interface Balance {
  account_id: string;
  kind: string;
  opening_balance: string;
  closing_balance: string;
}
const balances = (day: string, accept = 'application/json', token = finance.token) =>
  stack.get(`/v1/exports/balances?day=${day}`, { token, headers: { accept } });
const today = () => westernIndonesiaDay(new Date());

/** Inserts a journal of one rupiah at an instant. */
async function postAt(at: string): Promise<string> {
  const id = await plantJournal(stack.owner(), {
    kind: 'test.exported',
    businessKey: `test/exported/${newId()}`,
    postings: [
      { accountId: systemAccounts.gatewayClearing, amount: '-1' },
      { accountId: account, amount: '1' },
    ],
  });
  await backdate(stack, [String(id)], at);
  return String(id);
}
const idsOf = ({ body }: { body: { data: { rows: Row[] } } }) => [
  ...new Set(body.data.rows.map(({ journal_id }) => journal_id)),
];

describe('An export of journals', () => {
  it('An export has every posting of a day in UTC+7, and none of the days around it', async () => {
    const before = await postAt('2026-03-01T16:59:59.999Z');
    const first = await postAt('2026-03-01T17:00:00.000Z');
    const last = await postAt('2026-03-02T16:59:59.999999Z');
    const after = await postAt('2026-03-02T17:00:00.000Z');
    const answer = await ofDay('2026-03-02');
    expect(answer).toMatchObject({
      status: 200,
      body: { message: expect.any(String), data: { day: '2026-03-02', sealed: false } },
    });
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(idsOf(answer)).toEqual([first, last]);
    expect(answer.body.data.rows.slice(0, 2)).toEqual([
      {
        journal_id: first,
        kind: 'test.exported',
        account_id: systemAccounts.gatewayClearing,
        amount: '-1.0000',
        created_at: '2026-03-01T17:00:00.000Z',
      },
      {
        journal_id: first,
        kind: 'test.exported',
        account_id: account,
        amount: '1.0000',
        created_at: '2026-03-01T17:00:00.000Z',
      },
    ]);
    expect(idsOf(await ofDay('2026-03-01'))).toEqual([before]);
    expect(idsOf(await ofDay('2026-03-03'))).toEqual([after]);
    expect((await ofDay('2026-03-04')).body.data).toEqual({ day: '2026-03-04', sealed: false, rows: [] });
  });

  it('An export in CSV has the same rows under a header line', async () => {
    const { body: json } = await ofDay('2026-03-02');
    const { status, headers, body } = await ofDay('2026-03-02', 'text/csv');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    const columns = ['journal_id', 'kind', 'account_id', 'amount', 'created_at'] as const;
    const lines = json.data.rows.map((row: Row) => columns.map((column) => row[column]).join(','));
    expect(body).toBe([columns.join(','), ...lines, ''].join('\r\n'));
    expect((await ofDay('2026-03-04', 'text/csv')).body).toBe(`${columns.join(',')}\r\n`);
  });

  it('An export of today has the postings so far', async () => {
    const id = await plantJournal(stack.owner(), {
      kind: 'test.exported',
      businessKey: `test/exported/${newId()}`,
      postings: [
        { accountId: account, amount: '-0.5' },
        { accountId: systemAccounts.gatewayClearing, amount: '0.5' },
      ],
    });
    const answer = await ofDay(today());
    expect(answer.body.data.sealed).toBe(false);
    expect(idsOf(answer)).toContain(id);
  });

  it('Exports of all days add up to the balance of each account', async () => {
    // Midnight may have passed since the postings.
    const yesterday = westernIndonesiaDay(new Date(Date.now() - 24 * 60 * 60 * 1000));
    const days = ['2026-03-01', '2026-03-02', '2026-03-03', yesterday, today()];
    const held = new Map<string, string>();
    for (const day of days) {
      const rows: Row[] = (await ofDay(day)).body.data.rows;
      for (const { account_id, amount } of rows) held.set(account_id, addMoney(held.get(account_id) ?? '0', amount));
    }
    const kept = await stack
      .em()
      .execute<{ id: string; balance: string }[]>(
        'select account_id as id, sum(balance)::numeric(20, 4)::text as balance from account_balances group by 1 having sum(balance) <> 0',
      );
    expect(kept.length).toBeGreaterThan(1);
    expect(Object.fromEntries(held)).toEqual(Object.fromEntries(kept.map(({ id, balance }) => [id, balance])));
  });

  it('An account’s opening balance plus a day’s exported postings equals its closing balance', async () => {
    let before = new Map<string, string>();
    for (const day of ['2026-02-28', '2026-03-01', '2026-03-02', '2026-03-03']) {
      const { data } = (await balances(day)).body;
      const rows: Row[] = (await ofDay(day)).body.data.rows;
      const moved = (id: string) =>
        addMoney('0', ...rows.filter(({ account_id }) => account_id === id).map(({ amount }) => amount));
      expect(data).toMatchObject({ day, sealed: false });
      for (const { account_id, opening_balance, closing_balance } of data.rows as Balance[]) {
        expect(opening_balance).toBe(before.get(account_id) ?? '0.0000');
        expect(closing_balance).toBe(addMoney(opening_balance, moved(account_id)));
      }
      expect(data.rows.map(({ account_id }: Balance) => account_id)).toEqual(
        expect.arrayContaining(rows.map(({ account_id }) => account_id)),
      );
      before = new Map(data.rows.map(({ account_id, closing_balance }: Balance) => [account_id, closing_balance]));
    }
    expect(before.get(account)).toBe('4.0000');
    const { rows } = (await balances(today())).body.data;
    const held = rows.map(({ account_id, closing_balance }: Balance) => [account_id, closing_balance]);
    expect(held.find(([id]: [string]) => id === account)).toEqual([account, await balanceOf(stack, account)]);
  });

  it('The export of balances is available as CSV and checks day and access', async () => {
    const { body: json } = await balances('2026-03-02');
    const { status, headers, body } = await balances('2026-03-02', 'text/csv');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    const columns = ['account_id', 'kind', 'opening_balance', 'closing_balance'] as const;
    const lines = json.data.rows.map((row: Balance) => columns.map((column) => row[column]).join(','));
    expect(body).toBe([columns.join(','), ...lines, ''].join('\r\n'));
    expect((await balances('0001-01-01')).body.data.rows).toEqual([]);
    for (const day of ['', '2026-02-30', '9999-12-31']) {
      const refused = await balances(day);
      expect([refused.status, String(refused.body.message)]).toEqual([400, expect.stringContaining('day')]);
    }
    const { token } = await buildIndividual(stack);
    expect((await balances('2026-03-02', 'text/csv', token)).status).toBe(403);
  });

  itInFull('An export of a hundred thousand rows is streamed, a thousand at a time', async () => {
    const pairs = 50_000;
    await stack.owner().transactional(async (tx) => {
      await tx.execute('set local statement_timeout = 0; set local transaction_timeout = 0');
      await tx.execute("set local session_replication_role = 'replica'");
      await tx.execute(
        `with made as (select gen_random_uuid() as id, 'many/' || n as key from generate_series(1, ${pairs}) n),
         keys as (insert into journal_keys (business_key, journal_id) select key, id from made),
         journals as (insert into journals (id, business_key, kind, created_at)
           select id, key, 'test.many', '2026-02-10T03:00:00Z' from made)
         insert into postings (journal_id, account_id, amount, created_at)
           select id, ?::uuid, amount, '2026-02-10T03:00:00Z' from made, (values (1), (-1)) as both_sides (amount)`,
        [account],
      );
    });
    const answer = await fetch(`${stack.url}/v1/exports/journals?day=2026-02-10`, {
      headers: { authorization: `Bearer ${finance.token}`, accept: 'text/csv' },
    });
    let lines = 0;
    for await (const chunk of answer.body ?? []) lines += Buffer.from(chunk).toString().split('\n').length - 1;
    expect(lines).toBe(2 * pairs + 1);
    const sizes: number[] = [];
    for await (const part of readJournals(stack.em(), bookDay('2026-02-10'))) {
      if ('lines' in part) sizes.push(part.lines.length);
    }
    expect(sizes.reduce((sum, size) => sum + size)).toBe(2 * pairs);
    expect(Math.max(...sizes)).toBe(1000);
  });

  it.each([
    ['', 'day'],
    ['?day=', 'day'],
    ['?day=yesterday', 'day'],
    ['?day=2026-02-30', 'day'],
    ['?day=2026-03-02T00:00:00Z', 'day'],
    ['?day=0000-01-01', 'day'],
    ['?day=9999-12-31', 'day'],
  ])('An export with "%s" returns 400 and names the field', async (query, field) => {
    const { status, body } = await journals(query);
    expect(status).toBe(400);
    expect(body.message).toMatch(new RegExp(`^${field}: `));
  });

  it('An export of tomorrow is refused, and one of the first day of the calendar is empty', async () => {
    const tomorrow = westernIndonesiaDay(new Date(Date.now() + 24 * 60 * 60 * 1000));
    expect((await ofDay(tomorrow)).body.message).toBe('day: must not be in the future');
    expect((await ofDay('0001-01-01')).body.data.rows).toEqual([]);
  });

  it('Only platform users with read-event can export journals', async () => {
    const others = [await buildIndividual(stack), await buildOrganizationAdmin(stack)];
    for (const { token } of others)
      expect((await journals('?day=2026-03-02', 'application/json', token)).status).toBe(403);
    const nobody = await buildPlatformAdmin(stack, { role: null });
    expect((await journals('?day=2026-03-02', 'text/csv', nobody.token)).status).toBe(403);
    expect((await stack.get('/v1/exports/journals?day=2026-03-02')).status).toBe(401);
  });

  // Must be the last test, because postings on a sealed day would be reported.
  it('An export is marked as sealed once the seals cover the day, and never changes afterwards', async () => {
    await sealAll(stack);
    const sealed = await ofDay('2026-03-02');
    expect(sealed.body.data.sealed).toBe(true);
    const csv = await ofDay('2026-03-02', 'text/csv');
    const held = await balances('2026-03-02');
    expect(held.body.data.sealed).toBe(true);
    const id = await plantJournal(stack.owner(), {
      kind: 'test.exported',
      businessKey: `test/exported/${newId()}`,
      postings: [
        { accountId: systemAccounts.gatewayClearing, amount: '-1' },
        { accountId: account, amount: '1' },
      ],
    });
    await sealAll(stack);
    await closeDays(stack.em());
    expect((await ofDay('2026-03-02')).body).toEqual(sealed.body);
    expect((await ofDay('2026-03-02', 'text/csv')).body).toBe(csv.body);
    expect((await balances('2026-03-02')).body).toEqual(held.body);
    const now = await ofDay(today());
    expect(now.body.data.sealed).toBe(false);
    expect(idsOf(now)).toContain(id);
    await expectChecksEmpty(stack);
  });
});
