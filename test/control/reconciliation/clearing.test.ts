import fc from 'fast-check';
import { judgeRange, type OffsetRange } from '../../../src/control/reconciliation/clearing.ts';
import { judgeClearing, measureClearing } from '../../../src/control/reconciliation/compare-clearing.ts';
import { measureClearingDifference } from '../../../src/control/reconciliation/measure-clearing.ts';
import { systemAccounts } from '../../../src/ledger/accounts/account.ts';
import { carryOut } from '../../../src/money-out/decisions/carry-out.ts';
import { createMetrics } from '../../../src/platform/metrics/metrics.ts';
import { newId } from '../../../src/shared/ids.ts';
import { buildPayer, magicAccount, pay, payoutWhen, settleAtProvider } from '../../money-out/payouts/build-payouts.ts';
import { type BuiltUser, balanceOf, buildIndividual } from '../../support/build.ts';
import { buildOperators, type Operators, plantDecision } from '../../support/decide.ts';
import type { BuiltPartner } from '../../support/partner.ts';
import { plantJournal } from '../../support/plant-journal.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let partner: BuiltPartner;
let payer: BuiltUser;
let operators: Operators;
beforeAll(async () => {
  stack = await startStack({ own: true, worker: true, sandbox: true });
  partner = await buildPayer(stack);
  payer = await buildIndividual(stack);
  operators = await buildOperators(stack);
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

let dayNumber = 0;
const measure = () => measureClearing(stack.em(), stack.deps.gateways, { signal: AbortSignal.timeout(10_000) });
/** Compares the measurement as the next day's. */
const judge = async (measured: Awaited<ReturnType<typeof measure>>) => {
  dayNumber += 1;
  const day = new Date(Date.UTC(2030, 0, dayNumber)).toISOString().slice(0, 10);
  await stack.em().execute(
    `insert into clearing_measurements (day, measured)
     select ?, jsonb_set(measured, '{day}', to_jsonb(?::text)) from clearing_measurements where day = ?`,
    [day, day, measured.day],
  );
  return judgeClearing(stack.em(), { day });
};
const compare = async () => judge(await measure());
const agrees = { agreed: true, difference: '0.0000' };
const move = (amount: number) => stack.sandbox.post('/sandbox/balance', { amount });
/** Carries out two people's decision to book a movement at the provider; returns the outcome. */
async function book(amount: string, reference: string): Promise<{ status: string; reason: string | null }> {
  const id = await plantDecision(stack, operators, { kind: 'book_external', amount, reference });
  await carryOut(stack.em(), stack.deps, id);
  const [row] = await stack
    .em()
    .execute<[{ status: string; reason: string | null }]>('select status, reason from decisions where id = ?', [id]);
  return row;
}
const differencesTold = async () =>
  Number(
    (
      await stack.em().execute<{ n: string }[]>("select count(*) as n from events where event = 'CLEARING_DIFFERENCE'")
    )[0]?.n,
  );
const topUp = async () => {
  const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 };
  return (await stack.post('/v1/payments/gateway', body, { token: payer.token })).body.data;
};
const payOrder = async ({ payment_order_id: id, payment_code }: { payment_order_id: string; payment_code: string }) => {
  await stack.sandbox.post('/sandbox/pay', { payment_code });
  await eventually(
    () => stack.em().execute<unknown[]>('select 1 from receipts where reference = ?', [id]),
    (receipts) => receipts.length > 0,
  );
};

describe('The comparison with the provider’s balance', () => {
  it('The balance comparison stores the day’s result; the first day agrees, whatever both balances are', async () => {
    expect(await compare()).toMatchObject(agrees);
    const rows = await stack.em().execute<object[]>('select * from clearing_comparisons');
    expect(rows).toMatchObject([{ agreed: true, agreed_day: null, provider_change: null }]);
  });

  it('The balance comparison agrees after payments and after payouts that succeed, fail or are returned', async () => {
    const ends = async (digits: string, status: string) =>
      payoutWhen(partner, (await pay(partner, { bank_account_number: magicAccount(digits) })).id, status);
    await Promise.all([
      topUp().then(payOrder),
      ends('111111', 'succeeded'),
      ends('999999', 'failed'),
      ends('654321', 'reversed'),
    ]);
    expect(await compare()).toMatchObject(agrees);
    const [row] = await stack.em().execute<object[]>('select * from clearing_comparisons order by day desc limit 1');
    expect(row).toMatchObject({
      provider_change: '-46000.0000',
      clearing_change: '-46000.0000',
      received_under_way: '0.0000',
    });
  });

  it('The balance comparison reports no difference for a transfer in flight or a payment posted later', async () => {
    const order = await topUp();
    const { id } = await pay(partner, { bank_account_number: magicAccount('131313') });
    await eventually(
      () => stack.em().execute<unknown[]>("select 1 from payouts where id = ? and last_word = 'accepted'", [id]),
      (rows) => rows.length > 0,
    );
    await stack.worker?.stop();
    await stack.sandbox.post('/sandbox/pay', { payment_code: order.payment_code });
    const measured = await measure();
    // Stands in for the worker, which would post the payment a moment later.
    await book('54000', `stands-for-${order.payment_order_id}`);
    expect(await judge(measured)).toMatchObject(agrees);
    const [row] = await stack.em().execute<object[]>('select * from clearing_comparisons order by day desc limit 1');
    expect(row).toMatchObject({ received_under_way: '54000.0000', spent_under_way: '100000.0000' });
    expect(await compare()).toMatchObject(agrees);
    await settleAtProvider(stack, id, 'FAILED');
  });
});

describe('A difference with the provider’s balance', () => {
  it('A difference with the provider’s balance is reported once and measured until it is booked', async () => {
    await book('1000000', newId());
    await move(1_000_000);
    expect(await compare()).toMatchObject({ agreed: true });
    const told = await differencesTold();
    await move(-250_000);
    const measured = await measure();
    const verdict = await judge(measured);
    // The pending transfer in our books explains IDR 100,000 of it.
    expect(verdict).toMatchObject({ agreed: false, difference: '-150000.0000' });
    await judgeClearing(stack.em(), { day: verdict.day });
    expect(await differencesTold()).toBe(told + 1);
    const metrics = createMetrics({ defaults: false });
    measureClearingDifference(metrics, stack.deps.orm);
    expect(await metrics.registry.metrics()).toContain(`amanah_clearing_difference ${Number(verdict.difference)}`);
    await book('-250000', newId());
    expect(await compare()).toMatchObject(agrees);
    expect(await metrics.registry.metrics()).toContain('amanah_clearing_difference 0');
  });

  it('A small daily difference never accumulates unseen behind transfers in flight', () => {
    const range = fc.record({ slack: fc.nat(1_000), below: fc.nat(1_000) });
    const days = fc.array(range, { minLength: 1, maxLength: 30 });
    const property = fc.property(days, fc.nat(1_000), (measurements, truth) => {
      let agreed: OffsetRange | null = null;
      for (const { slack, below } of measurements) {
        const measured: OffsetRange = { low: `${truth - below}.0000`, high: `${truth + slack}.0000` };
        const verdict: ReturnType<typeof judgeRange> = judgeRange(agreed, measured);
        expect(verdict.difference).toBe('0.0000');
        agreed = verdict.range;
      }
      // Beyond the smallest open amount of those days, a difference is fully visible, with its sign.
      const above = truth + Math.min(...measurements.map(({ slack }) => slack)) + 7;
      const under = truth - Math.min(...measurements.map(({ below }) => below)) - 7;
      expect(judgeRange(agreed, { low: `${above}.0000`, high: `${above}.0000` }).difference).toBe('7.0000');
      expect(judgeRange(agreed, { low: `${under}.0000`, high: `${under}.0000` }).difference).toBe('-7.0000');
    });
    fc.assert(property);
  });
});

describe('Transfers of platform money at the provider', () => {
  it("A transfer of platform money is booked once per reference, against the platform's own money", async () => {
    const before = await balanceOf(stack, systemAccounts.feeRevenue);
    const reference = newId();
    expect(await book('5000.0001', reference)).toEqual({ status: 'carried_out', reason: null });
    const again = { status: 'refused', reason: 'this movement is already booked, or is of another amount' };
    expect(await book('5000.0001', reference)).toEqual(again);
    expect(await book('5000', reference)).toEqual(again);
    expect(await book('-5000.0001', newId())).toMatchObject({ status: 'carried_out' });
    expect(await balanceOf(stack, systemAccounts.feeRevenue)).toBe(before);
  });

  it('A transfer of platform money never exceeds the platform’s own balance, net of provider costs', async () => {
    const tooMuch = { status: 'refused', reason: "exceeds the platform's own balance" };
    await book('10', newId());
    const own = Number(await balanceOf(stack, systemAccounts.feeRevenue));
    expect(await book(`-${own + 1}`, newId())).toEqual(tooMuch);
    const cost = await plantJournal(stack.owner(), {
      kind: 'test',
      businessKey: newId(),
      postings: [
        { accountId: systemAccounts.providerCost, amount: '-10' },
        { accountId: systemAccounts.gatewayClearing, amount: '10' },
      ],
    });
    expect(cost).toBeDefined();
    expect(await book(`-${own}`, newId())).toEqual(tooMuch);
    expect(Number(await balanceOf(stack, systemAccounts.feeRevenue))).toBe(own);
  });
});
