import { buildPayer, magicAccount, pay, payoutWhen, readBalance } from '../../money-out/payouts/build-payouts.ts';
import { type BuiltUser, balanceOf, buildIndividual } from '../../support/build.ts';
import { itInFull } from '../../support/full.ts';
import type { BuiltPartner } from '../../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let payer: BuiltUser;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  payer = await buildIndividual(stack);
  partner = await buildPayer(stack);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
afterEach(() => stack.sandbox.put('/sandbox/faults', {}));

async function topUp(): Promise<{ payment_order_id: string; payment_code: string }> {
  const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 };
  return (await stack.post('/v1/payments/gateway', body, { token: payer.token })).body.data;
}
const statusWhen = (id: string, status: string) =>
  eventually(
    async () => (await stack.get(`/v1/payments/orders/${id}`, { token: payer.token })).body.data.status,
    (found) => found === status,
  );

// A callback with a wrong token is not even a hint: if the real callback is lost too, the next query is minutes away.
describe.each([
  ['status', [false, true], it, itInFull],
  ['amount', [false, true], itInFull, it],
  ['token', [false], itInFull, itInFull],
])('Callbacks with a forged %s', (forge, drops, ofAPayment, ofAPayout) => {
  ofAPayment(`A payment whose callbacks have a forged ${forge} is settled once, with its own amount`, async () => {
    const before = Number(await balanceOf(stack, payer.accountId));
    for (const drop of drops) {
      await stack.sandbox.put('/sandbox/faults', { callbacks: { forge, drop } });
      const order = await topUp();
      await stack.sandbox.post('/sandbox/pay', { payment_code: order.payment_code });
      await statusWhen(order.payment_order_id, 'PAID');
    }
    expect(Number(await balanceOf(stack, payer.accountId))).toBe(before + 50_000 * drops.length);
  });

  ofAPayout(
    `A payout whose callbacks have a forged ${forge} takes the provider’s outcome; a failed one releases its money`,
    async () => {
      const before = Number((await readBalance(partner)).available);
      await stack.sandbox.put('/sandbox/faults', { callbacks: { forge } });
      const paid = await pay(partner);
      const failed = await pay(partner, { bank_account_number: magicAccount('999999') });
      await payoutWhen(partner, paid.id, 'succeeded');
      await payoutWhen(partner, failed.id, 'failed');
      expect(Number((await readBalance(partner)).available)).toBe(before - Number(paid.amount));
    },
  );
});
