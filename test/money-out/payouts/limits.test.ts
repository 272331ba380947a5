import { type BuiltPartner, buildPartner } from '../../support/partner.ts';
import { recountTallies } from '../../support/recount-tallies.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { withoutTriggers } from '../../support/without-triggers.ts';
import { buildPayer, generous, magicAccount, pay, payoutBody, payoutWhen } from './build-payouts.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const refusal = (status: number, code: string, details?: unknown) => ({
  status,
  body: { error: { code, ...(details === undefined ? {} : { details }) }, request_id: expect.any(String) },
});
const post = async (body: object, key: string | undefined, by: BuiltPartner) => {
  const { status, body: answer } = await by.post('/payouts', payoutBody(body), key);
  return { status, body: answer };
};

describe('Payout limits', () => {
  const limits = { max_payout_amount: '50000', max_daily_amount: '100000', max_hourly_count: 3 };
  const small = { amount: '20000' };

  it('A payout without configured limits, or with payouts_enabled false, returns FUNDS_PAYOUT_SUSPENDED', async () => {
    const payer = await buildPartner(stack);
    expect(await post({}, undefined, payer)).toMatchObject(refusal(422, 'FUNDS_PAYOUT_SUSPENDED'));
    expect((await payer.get('/limits')).body.data).toEqual({
      max_payout_amount: null,
      max_daily_amount: null,
      max_hourly_count: null,
    });
    await payer.administer('put', '/limits', generous);
    await payer.administer('patch', '', { payouts_enabled: false });
    expect(await post({}, undefined, payer)).toMatchObject(refusal(422, 'FUNDS_PAYOUT_SUSPENDED'));
    await payer.administer('patch', '', { payouts_enabled: true });
    expect(await post({}, undefined, payer)).toMatchObject(refusal(422, 'FUNDS_INSUFFICIENT_BALANCE'));
  });

  it('A payout is checked in this order: body and channel table, suspension, limits, balance', async () => {
    const payer = await buildPayer(stack, { available: '0', limits });
    await payer.administer('patch', '', { payouts_enabled: false });
    const beyond = { amount: '50001' };
    const invalid = { ...beyond, bank_code: 'NOBANK' };
    expect(await post(invalid, undefined, payer)).toMatchObject(refusal(400, 'REQUEST_INVALID_PAYLOAD'));
    expect(await post(beyond, undefined, payer)).toMatchObject(refusal(422, 'FUNDS_PAYOUT_SUSPENDED'));
    await payer.administer('patch', '', { payouts_enabled: true });
    expect(await post(beyond, undefined, payer)).toMatchObject(refusal(422, 'FUNDS_LIMIT_EXCEEDED'));
    expect(await post(small, undefined, payer)).toMatchObject(refusal(422, 'FUNDS_INSUFFICIENT_BALANCE'));
    expect((await payer.get('/payouts')).body.data.total).toBe(0);
  });

  it('A payout above max_payout_amount returns FUNDS_LIMIT_EXCEEDED; a payout at the limit succeeds', async () => {
    const payer = await buildPayer(stack, { limits });
    const details = {
      limit: 'max_payout_amount',
      maximum: '50000.0000',
      used: '0.0000',
      remaining: '50000.0000',
    };
    expect(await post({ amount: '50001' }, undefined, payer)).toMatchObject(
      refusal(422, 'FUNDS_LIMIT_EXCEEDED', details),
    );
    expect(await post({ amount: '50000' }, undefined, payer)).toMatchObject({ status: 200 });
  });

  it('A payout that would exceed max_daily_amount within 24 hours returns FUNDS_LIMIT_EXCEEDED', async () => {
    const payer = await buildPayer(stack, { limits: { ...limits, max_hourly_count: 100 } });
    for (const amount of ['50000', '40000']) await pay(payer, { amount });
    const details = { limit: 'max_daily_amount', maximum: '100000.0000', used: '90000.0000', remaining: '10000.0000' };
    expect(await post(small, undefined, payer)).toMatchObject(refusal(422, 'FUNDS_LIMIT_EXCEEDED', details));
    expect(await post({ amount: '10000' }, undefined, payer)).toMatchObject({ status: 200 });
  });

  it('A payout that would exceed max_hourly_count within an hour returns FUNDS_LIMIT_EXCEEDED', async () => {
    const payer = await buildPayer(stack, { limits });
    for (let count = 0; count < 3; count += 1) await pay(payer, small);
    const details = { limit: 'max_hourly_count', maximum: 3, used: 3, remaining: 0 };
    expect(await post(small, undefined, payer)).toMatchObject(refusal(422, 'FUNDS_LIMIT_EXCEEDED', details));
  });

  it('A payout whose reservation exceeds the available balance returns FUNDS_INSUFFICIENT_BALANCE', async () => {
    const payer = await buildPayer(stack, {
      available: '100000',
      feeMode: 'ADDED',
      fees: [{ method: 'payout', fixed: '2500', basis_points: 0 }],
    });
    const details = { available: '100000.0000', required: '102500.0000' };
    expect(await post({}, undefined, payer)).toMatchObject(refusal(422, 'FUNDS_INSUFFICIENT_BALANCE', details));
    expect(await post({ amount: '97500' }, undefined, payer)).toMatchObject({ status: 200 });
  });

  it('Failed payouts count toward the hourly count only; reversed payouts count toward both limits', async () => {
    const payer = await buildPayer(stack, { limits });
    const failing = await pay(payer, { ...small, bank_account_number: magicAccount('121212') });
    await payoutWhen(payer, failing.id, 'failed');
    const reversing = await pay(payer, { amount: '30000', bank_account_number: magicAccount('654321') });
    await payoutWhen(payer, reversing.id, 'reversed');
    expect((await payer.get('/limits')).body.data).toEqual({
      max_payout_amount: { maximum: '50000.0000', used: '0.0000', remaining: '50000.0000' },
      max_daily_amount: { maximum: '100000.0000', used: '30000.0000', remaining: '70000.0000' },
      max_hourly_count: { maximum: 3, used: 2, remaining: 1 },
    });
  });

  it('Refused payouts count toward no limit; others stop counting after an hour or a day', async () => {
    const payer = await buildPayer(stack, { limits });
    await post({ amount: '50001' }, undefined, payer);
    const old = await pay(payer, { amount: '50000' });
    await payoutWhen(payer, old.id, 'succeeded');
    const age = async (interval: string) => {
      await withoutTriggers(stack, 'update payouts set created_at = now() - ?::interval where id = ?', [
        interval,
        old.id,
      ]);
      await recountTallies(stack);
    };
    const used = async () => {
      const { max_daily_amount: daily, max_hourly_count: hourly } = (await payer.get('/limits')).body.data;
      return [daily.used, hourly.used];
    };
    expect(await used()).toEqual(['50000.0000', 1]);
    await age('61 minutes');
    expect(await used()).toEqual(['50000.0000', 0]);
    await age('24 hours 1 minute');
    expect(await used()).toEqual(['0.0000', 0]);
  });
});
