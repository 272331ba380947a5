import { csvLine } from '../../src/shared/csv.ts';
import { buildPayer, magicAccount, pay, payoutWhen } from '../money-out/payouts/build-payouts.ts';
import { buildIndividual } from '../support/build.ts';
import type { BuiltPartner } from '../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  partner = await buildPayer(stack, { available: '0' });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const statement = (account: string, accept = 'application/json') =>
  stack.get(`/v1/accounts/${account}/statement`, { token: partner.admin.token, headers: { accept } });
const named = (postings: { kind: string }[], kind: string) => postings.filter((posting) => posting.kind === kind);

async function collect(changes: object) {
  const { body } = await partner.post('/payments', { method: 'qris', amount: '500000', ...changes });
  await stack.sandbox.post('/sandbox/pay', { payment_code: body.data.payment_code });
  await eventually(
    async () => (await partner.get(`/payments/${body.data.id}`)).body.data.status,
    (status) => status === 'succeeded',
  );
  return body.data;
}

describe("The statement of a partner's account", () => {
  it('A partner account’s statement shows each posting’s payment or payout, and its payee', async () => {
    const invoice = await collect({ external_ref: 'INV, "1042"' });
    const nameless = await collect({});
    const salary = await pay(partner, { external_ref: '=1+1', beneficiary_name: '@Siti "Rahayu", Ny.' });
    const returned = await pay(partner, { beneficiary_name: undefined, bank_account_number: magicAccount('999999') });
    await payoutWhen(partner, salary.id, 'succeeded');
    await payoutWhen(partner, returned.id, 'failed');

    const ofInvoice = { reference: invoice.external_ref, external_ref: invoice.external_ref, beneficiary_name: null };
    const ofNameless = { reference: nameless.id, external_ref: null, beneficiary_name: null };
    const ofSalary = { reference: salary.reference, external_ref: '=1+1', beneficiary_name: '@Siti "Rahayu", Ny.' };
    const ofReturned = { reference: returned.reference, external_ref: null, beneficiary_name: null };

    const { body } = await statement(partner.account.available);
    const { postings, closing_balance } = body.data;
    expect(named(postings, 'partner-payment.released')).toMatchObject([ofInvoice, ofNameless]);
    expect(named(postings, 'partner-payout.reserved')).toMatchObject([ofSalary, ofReturned]);
    expect(named(postings, 'partner-payout.failed')).toMatchObject([ofReturned]);
    expect(closing_balance).toBe('900000.0000');
    const pending = (await statement(partner.account.pending)).body.data.postings;
    expect(named(pending, 'partner-payment.settled')).toMatchObject([ofInvoice, ofNameless]);
    const reserved = (await statement(partner.account.reserved)).body.data.postings;
    expect(named(reserved, 'partner-payout.succeeded')).toMatchObject([ofSalary]);

    const csv = await statement(partner.account.available, 'text/csv');
    const lines = String(csv.body).trimEnd().split('\r\n');
    expect(lines[0]).toBe('created_at,amount,running_balance,journal_id,kind,reference,external_ref,beneficiary_name');
    expect(lines).toHaveLength(1 + postings.length);
    const lineOf = (kind: string) => lines.find((line) => line.includes(`,${kind},`));
    expect(lineOf('partner-payment.released')).toMatch(/,"INV, ""1042""","INV, ""1042""",$/);
    expect(lineOf('partner-payout.reserved')).toMatch(
      new RegExp(`,-100000.0000,.*,${salary.reference},'=1\\+1,"'@Siti ""Rahayu"", Ny."$`),
    );
  });

  it('A statement of another account has no columns for payments, payouts and payees', async () => {
    const owner = await buildIndividual(stack, { balance: '1000' });
    const [posting] = (await statement(owner.accountId)).body.data.postings;
    expect(Object.keys(posting)).toEqual(['created_at', 'amount', 'running_balance', 'journal_id', 'kind']);
    expect(String((await statement(owner.accountId, 'text/csv')).body)).toMatch(/,kind\r\n/);
  });
});

describe('Text in CSV', () => {
  it.each([
    [null, ''],
    ['plain', 'plain'],
    ['a,b', '"a,b"'],
    ['say "no"', '"say ""no"""'],
    ['=SUM(A1)', "'=SUM(A1)"],
    ['+62', "'+62"],
    ['-1', '-1'],
    ['-1+1', "'-1+1"],
    ['@x', "'@x"],
    [' =1', "' =1"],
    ['\tx', "'\tx"],
    ['=HYPERLINK("x","y")', '"\'=HYPERLINK(""x"",""y"")"'],
    ['two\nlines', '"two\nlines"'],
  ])('The text %j is written as %j in CSV', (text, cell) => {
    expect(csvLine([text])).toBe(`${cell}\r\n`);
  });
});
