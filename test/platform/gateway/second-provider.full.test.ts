import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { westernIndonesiaDay } from '../../../src/shared/clock.ts';
import { providers } from '../../../src/wiring/gateways.ts';
import { reconcileOn } from '../../control/reconciliation/reconcile-on.ts';
import { buildPayer, pay, payoutWhen, transfersOf } from '../../money-out/payouts/build-payouts.ts';
import { type BuiltUser, balanceOf, buildIndividual } from '../../support/build.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { keduaToken } from './kedua.ts';
import { startKedua } from './kedua-server.ts';

let kedua: Awaited<ReturnType<typeof startKedua>>;
let stack: Stack;
let payer: BuiltUser;
const [bca, bni] = [1, 2];

beforeAll(async () => {
  kedua = await startKedua();
  process.env.KEDUA_URL = kedua.url;
  const adapter = pathToFileURL(join(import.meta.dirname, 'kedua.ts')).href;
  stack = await startStack({
    own: true,
    worker: true,
    sandbox: true,
    env: { KEDUA_URL: kedua.url, NODE_OPTIONS: `--import=${adapter}` },
  });
  await stack.owner().execute("update payment_channels set provider = 'kedua' where id = ?", [bni]);
  await stack.owner().execute("update payout_banks set provider = 'kedua' where bank_code = 'BNI'");
  payer = await buildIndividual(stack);
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
// Other files of this process have one provider.
afterAll(() => Reflect.deleteProperty(providers, 'kedua'));
afterAll(async () => {
  await stack.stop();
  await kedua.stop();
});

async function topUp(channel: number): Promise<{ payment_order_id: string; payment_code: string }> {
  const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: channel, amount: 50_000 };
  const answer = await stack.post('/v1/payments/gateway', body, { token: payer.token });
  expect(answer.status).toBe(201);
  return answer.body.data;
}
const untilPaid = (id: string) =>
  eventually(
    async () => (await stack.get(`/v1/payments/orders/${id}`, { token: payer.token })).body.data,
    (order) => order.status === 'PAID',
  );
const callBack = (provider: string, body: object) =>
  stack.post(`/v1/gateway/callbacks/${provider}`, body, { headers: { 'x-callback-token': keduaToken } });
const providersIn = async (table: string) =>
  (await stack.em().execute<{ provider: string }[]>(`select provider from ${table} order by provider`)).map(
    ({ provider }) => provider,
  );
const both = ['kedua', 'xendit'];

describe('Two providers', () => {
  it('A second provider accepts top-ups through its channels', async () => {
    const [here, there] = [await topUp(bca), await topUp(bni)];
    expect(kedua.instruments).toMatchObject([{ reference: there.payment_order_id, code: there.payment_code }]);

    await stack.sandbox.post('/sandbox/pay', { payment_code: here.payment_code });
    await untilPaid(here.payment_order_id);
    const told = kedua.pay(there.payment_code);
    expect((await callBack('xendit', told)).status).toBe(401);
    expect((await callBack('nobody', told)).status).toBe(401);
    expect((await callBack('kedua', told)).status).toBe(200);
    await untilPaid(there.payment_order_id);

    expect(await balanceOf(stack, payer.accountId)).toBe('100000.0000');
    expect(await providersIn('payment_orders')).toEqual(both);
    expect(await providersIn('receipts')).toEqual(both);
  });

  it('Unexpected money at a second provider is held in suspense under that provider', async () => {
    const again = kedua.pay(kedua.instruments[0]?.code ?? '');
    expect((await callBack('kedua', again)).status).toBe(200);
    const suspended = () =>
      stack.em().execute("select provider, provider_payment_id as id from receipts where state = 'suspended'");
    await eventually(suspended, (rows) => rows.length === 1);
    expect(await suspended()).toEqual([{ provider: 'kedua', id: again.payment }]);
  });

  it('A second provider’s money never settles an order of the first, whatever its reference says', async () => {
    const { payment_order_id: reference } = await topUp(bca);
    const stray = { reference, amount: '54000.0000', expires_at: new Date() };
    const made = await fetch(`${kedua.url}/instrument`, { method: 'POST', body: JSON.stringify(stray) });
    const paid = kedua.pay(((await made.json()) as { code: string }).code);
    expect((await callBack('kedua', paid)).status).toBe(200);
    const suspended = () =>
      stack.em().execute('select state, reason from receipts where provider_payment_id = ?', [paid.payment]);
    await eventually(suspended, (rows) => rows.length === 1);
    expect(await suspended()).toEqual([{ state: 'suspended', reason: 'unknown' }]);
    expect((await stack.get(`/v1/payments/orders/${reference}`, { token: payer.token })).body.data.status).toBe(
      'WAITING_PAYMENT',
    );
  });

  it('A second provider executes the payouts to its banks', async () => {
    const partner = await buildPayer(stack);
    const here = await pay(partner, { bank_code: 'BRI' });
    const there = await pay(partner, { bank_code: 'BNI', bank_account_number: '0012345678' });
    for (const { id } of [here, there]) await payoutWhen(partner, id, 'succeeded');
    expect(kedua.transfers).toMatchObject([{ reference: there.id, bankCode: 'BNI' }]);
    expect(await transfersOf(stack, here.id)).toHaveLength(1);
    expect(await transfersOf(stack, there.id)).toEqual([]);
    expect(await providersIn('payouts')).toEqual(both);
  });

  it('A second provider’s ids must have its prefix, so that they never equal ids of the first', async () => {
    for (const [table, id] of [
      ['receipts', 'provider_payment_id'],
      ['payouts', 'provider_transfer_id'],
    ]) {
      const move = stack
        .owner()
        .execute(`update ${table} set provider = 'kedua' where ${id} is not null and provider = 'xendit'`);
      await expect(move).rejects.toThrow(`${table}_provider_ids`);
    }
  });

  it('A second provider is reconciled day by day', async () => {
    const day = westernIndonesiaDay(new Date());
    expect(await reconcileOn(stack, { day })).toMatchObject({ differences: 0, compared: 6 });
    expect(await providersIn('reconciled_days')).toEqual(both);
  });

  it('Orders opened through a provider stay with it when their channel moves to another', async () => {
    const waiting = await topUp(bni);
    await stack.owner().execute("update payment_channels set provider = 'xendit' where id = ?", [bni]);
    await callBack('kedua', kedua.pay(waiting.payment_code));
    await untilPaid(waiting.payment_order_id);
  });
});
