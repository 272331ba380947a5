import { systemAccounts } from '../../src/ledger/accounts/account.ts';
import { runCheck } from '../../src/ledger/run-checks.ts';
import { addMoney, negateMoney, subtractMoney } from '../../src/shared/money.ts';
import { buildPayer, magicAccount, pay, payoutWhen } from '../money-out/payouts/build-payouts.ts';
import { buildPaid, refund, refundWhen, toBank } from '../money-out/refunds/build-refunds.ts';
import { buildOwner, withdraw, withdrawalWhen } from '../money-out/withdrawals/build-withdrawals.ts';
import { balanceOf, buildIndividual } from '../support/build.ts';
import { itInFull } from '../support/full.ts';
import { freshKey } from '../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ own: true, worker: true, sandbox: true });
  // The provider's prices of a payment and a transfer, in the sandbox and in our tables.
  expect((await stack.sandbox.put('/sandbox/costs', { payment: 3_054, transfer: 2_500 })).status).toBe(200);
  await stack
    .owner()
    .execute('update payment_channels set provider_fee_fixed = 3000, provider_fee_basis_points = 10 where id = 1');
  await stack
    .owner()
    .execute(
      "update payout_banks set provider_fee_fixed = 2400, provider_fee_basis_points = 10 where bank_code = 'BRI'",
    );
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const books = async () => ({
  cost: await balanceOf(stack, systemAccounts.providerCost),
  clearing: await balanceOf(stack, systemAccounts.gatewayClearing),
  provider: await stack.deps.gateways.of('xendit').readBalance(),
});
/** Returns the changes of the provider's cost, of our claim on the provider, and of the balance there. */
async function changeOf(work: () => Promise<unknown>) {
  const before = await books();
  await work();
  const after = await books();
  return {
    cost: negateMoney(subtractMoney(after.cost, before.cost)),
    clearing: negateMoney(subtractMoney(after.clearing, before.clearing)),
    provider: subtractMoney(after.provider, before.provider),
  };
}

const payer = () =>
  buildPayer(stack, {
    fees: [
      { method: 'payout', fixed: '4000', basis_points: 0, provider_fixed: '2500', provider_basis_points: 0 },
      { method: 'virtual_account', fixed: '5000', basis_points: 0, provider_fixed: '3054', provider_basis_points: 0 },
    ],
  });
/** Makes a top-up of IDR 50,000 with a fee of 4,000, paid this many times. */
const topUp = async (times: number) => {
  const user = await buildIndividual(stack);
  const body = { reference_type: 'account_top_up', reference_id: user.accountId, payment_id: 1, amount: 50_000 };
  const order = (await stack.post('/v1/payments/gateway', body, { token: user.token })).body.data;
  for (let time = 0; time < times; time += 1) {
    await stack.sandbox.post('/sandbox/pay', { payment_code: order.payment_code });
    await eventually(
      () => stack.em().execute<unknown[]>('select 1 from receipts where reference = ?', [order.payment_order_id]),
      (receipts) => receipts.length > time,
    );
  }
};

describe('The provider’s cost in the books', () => {
  itInFull('A payout’s provider cost is posted when it succeeds', async () => {
    const partner = await payer();
    const change = await changeOf(async () => {
      const { id } = await pay(partner);
      await payoutWhen(partner, id, 'succeeded');
    });
    expect(change).toEqual({ cost: '2500.0000', clearing: '-98500.0000', provider: '-98500.0000' });
  });

  itInFull('A reversed payout’s provider cost stays posted, while its net amount is returned', async () => {
    const partner = await payer();
    const change = await changeOf(async () => {
      const { id } = await pay(partner, { bank_account_number: magicAccount('654321') });
      await payoutWhen(partner, id, 'reversed');
    });
    expect(change).toEqual({ cost: '2500.0000', clearing: '-2500.0000', provider: '-2500.0000' });
  });

  itInFull('A failed payout has no provider cost', async () => {
    const partner = await payer();
    const change = await changeOf(async () => {
      const { id } = await pay(partner, { bank_account_number: magicAccount('999999') });
      await payoutWhen(partner, id, 'failed');
    });
    expect(change).toEqual({ cost: '0.0000', clearing: '0.0000', provider: '0.0000' });
  });

  it('A withdrawal’s provider cost is its bank’s fixed cost plus a share of the net amount', async () => {
    const owner = await buildOwner(stack);
    const change = await changeOf(async () => {
      const { id } = await withdraw(stack, owner);
      await withdrawalWhen(stack, owner, id, 'succeeded');
    });
    expect(change).toEqual({ cost: '2500.0000', clearing: '-102500.0000', provider: '-102500.0000' });
    const failed = await changeOf(async () => {
      const { id } = await withdraw(stack, owner, { digits: '999999' });
      await withdrawalWhen(stack, owner, id, 'failed');
    });
    expect(failed).toEqual({ cost: '0.0000', clearing: '0.0000', provider: '0.0000' });
  });

  it('A refund by transfer costs as much as a payout, and a refund to a wallet nothing', async () => {
    const partner = await payer();
    const byTransfer = await buildPaid(stack, partner, { method: 'virtual_account', channel: 'BCA', amount: '50000' });
    const toWallet = await buildPaid(stack, partner, { amount: '50000' });
    const change = (paymentId: string, bank: object) =>
      changeOf(async () => {
        const asked = await refund(partner, paymentId, { amount: '20000', ...bank });
        await refundWhen(partner, asked, 'succeeded');
      });
    expect(await change(byTransfer, toBank())).toEqual({
      cost: '2500.0000',
      clearing: '-22500.0000',
      provider: '-22500.0000',
    });
    expect(await change(toWallet, {})).toEqual({ cost: '0.0000', clearing: '-20000.0000', provider: '-20000.0000' });
  });

  itInFull('An order’s provider cost is its channel’s fixed cost plus a share of the amount', async () => {
    expect(await changeOf(() => topUp(1))).toEqual({
      cost: '3054.0000',
      clearing: '50946.0000',
      provider: '50946.0000',
    });
  });

  it('A double payment is posted to suspense in full and to clearing less its channel’s cost', async () => {
    const suspense = await balanceOf(stack, systemAccounts.suspense);
    expect(await changeOf(() => topUp(2))).toEqual({
      cost: '6108.0000',
      clearing: '101892.0000',
      provider: '101892.0000',
    });
    expect(await balanceOf(stack, systemAccounts.suspense)).toBe(addMoney(suspense, '54000'));
  });

  it('A partner’s payment is posted with its provider cost', async () => {
    const partner = await payer();
    const change = await changeOf(async () => {
      const body = { method: 'virtual_account', channel: 'BNI', amount: '50000', customer_name: 'Budi' };
      const { id, payment_code } = (await partner.post('/payments', body, freshKey())).body.data;
      await stack.sandbox.post('/sandbox/pay', { payment_code });
      await eventually(
        async () => (await partner.get(`/payments/${id}`)).body.data?.status,
        (status) => status === 'PAID' || status === 'succeeded' || status === 'paid',
      );
    });
    expect(change).toEqual({ cost: '3054.0000', clearing: '46946.0000', provider: '46946.0000' });
  });
});

describe('Checks of the provider’s cost', () => {
  beforeAll(async () => {
    const partner = await payer();
    await payoutWhen(partner, (await pay(partner)).id, 'succeeded');
    await topUp(1);
  });

  it.each([
    ['check_payouts_posted_once', 'update payouts set provider_cost = 0'],
    ['check_payouts_posted_once', 'update payouts set provider_fee = provider_fee + 1'],
    ['check_orders_posted_once', 'update payment_orders set provider_fee = 0'],
    ['check_orders_posted_once', "update payment_orders set status = 'EXPIRED'"],
    ['check_partner_payments_posted_once', 'update partner_payments set provider_fee = provider_fee + 1'],
    ...['check_payouts_posted_once', 'check_orders_posted_once', 'check_partner_payments_posted_once'].map((view) => [
      view,
      `delete from postings where account_id = '${systemAccounts.providerCost}'`,
    ]),
  ])('The check %s finds a cost that differs from the postings: %s', async (view = '', sql = '') => {
    const em = stack.owner();
    await em.begin();
    try {
      await em.execute("set local session_replication_role = 'replica'");
      await em.execute(sql);
      expect((await runCheck(em, view)).violations).toBeGreaterThan(0);
    } finally {
      await em.rollback();
    }
  });
});
