import { closeDays } from '../../../src/ledger/seals/close-days.ts';
import { westernIndonesiaDay } from '../../../src/shared/clock.ts';
import { addMoney } from '../../../src/shared/money.ts';
import { backdate } from '../../ledger/exports/build-days.ts';
import { sealAll } from '../../ledger/seals/build-seals.ts';
import { buildPayer, magicAccount, pay, payoutWhen } from '../../money-out/payouts/build-payouts.ts';
import { buildPlatformAdmin } from '../../support/build.ts';
import { type BuiltPartner, buildPartner } from '../../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

interface Line {
  created_at: string;
  group: string;
  kind: string;
  resource_id: string | null;
  external_ref: string | null;
  amount: string;
  fee: string;
  available: string;
  pending: string;
  journal_id: string;
}

const fees = [
  { method: 'virtual_account', fixed: '4000', basis_points: 0 },
  { method: 'payout', fixed: '2500', basis_points: 0 },
];
const csvRef = '=HYPERLINK("http://evil","x"),1';

let stack: Stack;
let partner: BuiltPartner;
let ids: Record<'paid' | 'open' | 'sent' | 'failed' | 'reversed', string>;
const today = () => westernIndonesiaDay(new Date());

/** Creates a payment of 50,000 that the customer has paid. */
async function collect(of: BuiltPartner, body: object = {}): Promise<string> {
  const va = { method: 'virtual_account', channel: 'BCA', amount: '50000', ...body };
  const { data } = (await of.post('/payments', va)).body;
  await stack.sandbox.post('/sandbox/pay', { payment_code: data.payment_code });
  await eventually(
    async () => (await of.get(`/payments/${data.id}`)).body.data,
    ({ available_at, status }) => status === 'succeeded' && available_at !== null,
  );
  return data.id;
}

beforeAll(async () => {
  stack = await startStack({ own: true, worker: true, sandbox: true });
  partner = await buildPayer(stack, { fees });
  const ended = async (status: string, body: object) => {
    const { id } = await pay(partner, body);
    await payoutWhen(partner, id, status);
    return id as string;
  };
  const collected = async () => {
    const id = await collect(partner, { external_ref: csvRef });
    await eventually(
      () => stack.em().execute('select 1 from partner_payments where id = ? and released_at is not null', [id]),
      (rows: unknown[]) => rows.length === 1,
    );
    return id;
  };
  const [paid, sent, failed, reversed, open] = await Promise.all([
    collected(),
    ended('succeeded', { external_ref: 'PAYROLL-7' }),
    ended('failed', { bank_account_number: magicAccount('999999') }),
    ended('reversed', { bank_account_number: magicAccount('654321') }),
    ended('pending', { bank_account_number: magicAccount('131313') }),
  ]);
  ids = { paid, sent, failed, reversed, open };
}, 120_000);
afterAll(() => stack.stop());

const settlement = (day: string, accept = 'application/json', of = partner) =>
  of.get(`/settlements/${day}`, { accept });
const total = (count: number, amount: string, fee: string, available: string, pending: string) => ({
  count,
  amount: `${amount}.0000`,
  fee: `${fee}.0000`,
  available: `${available}.0000`,
  pending: `${pending}.0000`,
});

describe('A settlement', () => {
  it('A settlement totals each kind of movement between the opening and the closing balance', async () => {
    const { status, headers, body } = await settlement(today());
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        request_id: headers.get('x-request-id'),
        data: {
          day: today(),
          currency: 'IDR',
          sealed: false,
          opening: { balance: '0.0000', available: '0.0000', pending: '0.0000' },
        },
      },
    });
    const { totals, closing } = body.data;
    expect(totals).toEqual({
      paid: total(1, '50000', '4000', '0', '46000'),
      settled: total(1, '46000', '0', '46000', '-46000'),
      // By default the fee is deducted from the amount: 97,500 reached the bank.
      payouts: total(2, '195000', '5000', '0', '-200000'),
      refunds: total(0, '0', '0', '0', '0'),
      reserved: total(4, '400000', '0', '-400000', '400000'),
      returned: total(1, '100000', '0', '100000', '-100000'),
      reversed: total(1, '97500', '0', '97500', '0'),
      other: total(1, '1000000', '0', '1000000', '0'),
    });
    expect(closing).toEqual({ balance: '943500.0000', available: '843500.0000', pending: '100000.0000' });
    const { currency: _, ...balance } = (await partner.get('/balance')).body.data;
    expect(closing).toEqual(balance);
    await expectChecksEmpty(stack);
  });

  it('A settlement has a chronological line for each journal, and the lines add up to its totals', async () => {
    const { lines, totals }: { lines: Line[]; totals: Record<string, Line & { count: number }> } = (
      await settlement(today())
    ).body.data;
    expect(lines.map(({ created_at }) => created_at)).toEqual(lines.map(({ created_at }) => created_at).toSorted());
    for (const [group, sums] of Object.entries(totals)) {
      const own = lines.filter((line) => line.group === group);
      const sum = (column: 'amount' | 'fee' | 'available' | 'pending') =>
        addMoney('0', ...own.map((line) => line[column]));
      expect(sums).toEqual({
        count: own.length,
        amount: sum('amount'),
        fee: sum('fee'),
        available: sum('available'),
        pending: sum('pending'),
      });
    }
    expect(lines.find(({ group }) => group === 'paid')).toEqual({
      created_at: expect.stringMatching(/Z$/),
      group: 'paid',
      kind: 'partner-payment.settled',
      resource_id: ids.paid,
      external_ref: csvRef,
      amount: '50000.0000',
      fee: '4000.0000',
      available: '0.0000',
      pending: '46000.0000',
      journal_id: expect.any(String),
    });
    const of = (id: string) =>
      lines.filter((line) => line.resource_id === id).map(({ kind, external_ref }) => [kind, external_ref]);
    expect(of(ids.sent)).toEqual([
      ['partner-payout.reserved', 'PAYROLL-7'],
      ['partner-payout.succeeded', 'PAYROLL-7'],
    ]);
    expect(of(ids.failed)).toEqual([
      ['partner-payout.reserved', null],
      ['partner-payout.failed', null],
    ]);
    expect(of(ids.reversed).at(-1)).toEqual(['partner-payout.reversed', null]);
    expect(of(ids.open)).toEqual([['partner-payout.reserved', null]]);
  });

  it('A settlement matches the statements of the partner’s accounts for the day', async () => {
    const platform = await buildPlatformAdmin(stack);
    const read = async (account: string) =>
      (await stack.get(`/v1/accounts/${account}/statement?from=${today()}&to=${today()}`, { token: platform.token }))
        .body.data;
    const { opening, closing, lines } = (await settlement(today())).body.data;
    const available = await read(partner.account.available);
    const others = [await read(partner.account.pending), await read(partner.account.reserved)];
    expect([opening.available, closing.available]).toEqual([available.opening_balance, available.closing_balance]);
    expect(closing.pending).toBe(addMoney('0', ...others.map(({ closing_balance }) => closing_balance)));
    const postings = [available, ...others].flatMap((one) => one.postings as Line[]);
    const journals = new Set(postings.map(({ journal_id }) => journal_id));
    expect(new Set(lines.map(({ journal_id }: Line) => journal_id))).toEqual(journals);
    expect(addMoney('0', ...postings.map(({ amount }) => amount))).toBe(closing.balance);
  });

  it('A settlement requested as text/csv is CSV, and text that a spreadsheet would evaluate is quoted', async () => {
    const { lines }: { lines: Line[] } = (await settlement(today())).body.data;
    const { status, headers, body } = await settlement(today(), 'text/csv');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    const rows = body.trimEnd().split('\r\n');
    expect(rows[0]).toBe('created_at,group,kind,resource_id,external_ref,amount,fee,available,pending,journal_id');
    expect(rows).toHaveLength(lines.length + 1);
    const paid = rows.find((row: string) => row.includes(',paid,'));
    expect(paid).toContain(`,"'=HYPERLINK(""http://evil"",""x""),1",50000.0000,4000.0000,0.0000,46000.0000,`);
    expect(rows.find((row: string) => row.includes('partner-payment.released'))).toContain(',-46000.0000,');
  });

  it('A settlement of a day before the partner existed has only zeros', async () => {
    const { opening, closing, totals, lines } = (await settlement('2020-01-01')).body.data;
    expect([opening.balance, closing.balance, lines]).toEqual(['0.0000', '0.0000', []]);
    expect(Object.values(totals)).toEqual(Array(8).fill(total(0, '0', '0', '0', '0')));
    expect((await settlement('2020-01-01', 'text/csv')).body.split('\r\n')).toHaveLength(2);
  });

  it.each(['yesterday', '2026-02-30', '2026-3-1', '0000-01-01', '9999-12-31', '2026-03-02T00:00:00Z'])(
    'A settlement of %s returns 400 and names the field',
    async (day) => {
      const { status, body } = await settlement(encodeURIComponent(day));
      expect([status, body.error.code, body.error.details?.[0].field]).toEqual([400, 'REQUEST_INVALID_PAYLOAD', 'day']);
    },
  );

  it('A settlement needs a key with read-gateway, a valid signature and an active partner', async () => {
    const other = await buildPartner(stack, { permissions: ['collect-payment'] });
    const denied = await settlement(today(), 'text/csv', other);
    expect([denied.status, denied.body.error.code]).toEqual([403, 'AUTH_PERMISSION_DENIED']);
    const forged = await partner.get(`/settlements/${today()}`, { 'x-partner-signature': 'f'.repeat(64) });
    expect([forged.status, forged.body.error.code]).toEqual([401, 'AUTH_INVALID_CREDENTIALS']);
    const { token } = await buildPlatformAdmin(stack);
    expect((await stack.get(`/v1/partners/settlements/${today()}`, { token })).status).toBe(401);
    const suspended = await buildPartner(stack, { status: 'suspended' });
    expect((await settlement(today(), 'application/json', suspended)).status).toBe(403);
  });

  it('A settlement shows nothing of other partners', async () => {
    const other = await buildPartner(stack, { fees });
    const id = await collect(other);
    const { lines, totals } = (await settlement(today(), 'application/json', other)).body.data;
    expect(lines[0]).toMatchObject({ resource_id: id, amount: '50000.0000' });
    expect(totals.paid.count).toBe(1);
    const own = (await settlement(today())).body.data;
    expect(own.totals.paid.count).toBe(1);
    expect(JSON.stringify(own)).not.toContain(id);
  });

  // The last test: it moves rows to a past day.
  it('A settlement’s day is in UTC+7, opens with the previous closing and never changes once sealed', async () => {
    const { lines }: { lines: Line[] } = (await settlement(today())).body.data;
    const paid = lines.filter(({ resource_id }) => resource_id === ids.paid).map(({ journal_id }) => journal_id);
    const funded = lines.filter(({ group }) => group === 'other').map(({ journal_id }) => journal_id);
    await backdate(stack, funded, '2026-03-01T16:59:59.999Z');
    await backdate(stack, paid, '2026-03-01T17:00:00.000Z');
    const before = (await settlement('2026-03-01')).body.data;
    const after = (await settlement('2026-03-02')).body.data;
    expect(before.closing).toEqual({ balance: '1000000.0000', available: '1000000.0000', pending: '0.0000' });
    expect(after.opening).toEqual(before.closing);
    expect(after.closing).toEqual({ balance: '1046000.0000', available: '1046000.0000', pending: '0.0000' });
    expect(after.lines.map(({ group }: Line) => group).toSorted()).toEqual(['paid', 'settled']);
    await sealAll(stack);
    const { data: sealed } = (await settlement('2026-03-02')).body;
    expect(sealed).toEqual({ ...after, sealed: true });
    await collect(partner);
    await closeDays(stack.em());
    expect((await settlement('2026-03-02')).body.data).toEqual(sealed);
    expect((await settlement(today())).body.data.opening).toEqual(sealed.closing);
    await expectChecksEmpty(stack);
  });
});
