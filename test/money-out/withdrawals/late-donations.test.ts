import type { EntityManager } from '@mikro-orm/postgresql';
import { charitableCauseDonate } from '../../../src/giving/donations/charitable-cause-donate.ts';
import { makePayments, paidOnes } from '../../../src/money-in/payments/balance-payment.ts';
import { payFromBalance } from '../../../src/money-in/payments/pay-from-balance.ts';
import { settlePayment } from '../../../src/money-in/payments/settle-payment.ts';
import { newId } from '../../../src/shared/ids.ts';
import { give } from '../../giving/donations/build-donations.ts';
import { asAClient } from '../../support/as-a-client.ts';
import { type BuiltUser, balanceOf, buildIndividual, buildOrganizationAdmin } from '../../support/build.ts';
import { buildOrganizationCause } from '../../support/build-targets.ts';
import { casesOf } from '../../support/full.ts';
import { untilLocked } from '../../support/lock-waits.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { settleAtProvider, transfersOf } from '../payouts/build-payouts.ts';
import { addBankAccount, ask, withdrawalWhen } from './build-withdrawals.ts';

/** IDR of each donation. */
const each = 50_000;

let stack: Stack;
let owner: BuiltUser;
let donor: BuiltUser;
let causeId: string;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  owner = await buildOrganizationAdmin(stack);
  causeId = (await buildOrganizationCause(stack, owner)).id;
  donor = await buildIndividual(stack, { balance: String(3 * each) });
});

const close = () =>
  asAClient(() => stack.delete(`/v1/charitable-causes/${causeId}`, undefined, { token: owner.token }));
const statusOf = async () => {
  const [row] = await stack
    .em()
    .execute<[{ status: string }]>('select status from charitable_causes where id = ?', [causeId]);
  return row.status;
};

/** Disburses the cause's whole balance to a bank that completes it on request only; returns the disbursement's id. */
async function disburseAll(): Promise<string> {
  expect((await give(stack, donor, each, causeId)).status).toBe(201);
  const bank_account_id = await addBankAccount(stack, owner, '131313');
  const fields = { cause_id: causeId, purpose_note: 'Two pumps and their pipes' };
  const { id } = (await ask(stack, owner, { bank_account_id, amount: String(each), ...fields })).body.data;
  await eventually(
    () => transfersOf(stack, id),
    (transfers) => transfers.length === 1,
  );
  return id;
}

const paymentOf = ({ id: userId, accountId: sourceAccountId }: BuiltUser) => ({
  payer: { userId, userType: 'individual' as const, organizationId: null },
  transactionId: newId(),
  referenceId: causeId,
  sourceAccountId,
  amount: `${each}.0000`,
  requestId: null,
});

/** Each way to donate to a cause: prepared while it accepts donations, then done in one transaction. */
const ways: [string, () => Promise<(tx: EntityManager) => Promise<unknown>>][] = [
  [
    'by the gateway',
    async () => {
      const order = { reference_type: 'charitable_cause_donate', reference_id: causeId, payment_id: 1, amount: each };
      const { body } = await stack.post('/v1/payments/gateway', order, { token: donor.token });
      const id: string = body.data.payment_order_id;
      const [{ total }] = await stack
        .em()
        .execute<[{ total: string }]>('select (nominal + admin_fee)::text as total from payment_orders where id = ?', [
          id,
        ]);
      const payment = { providerPaymentId: `pay-${id}`, providerPaymentMethodId: `method-${id}`, amount: total };
      return (tx) => settlePayment(tx, { orderId: id, payment }, stack.deps);
    },
  ],
  ['from a balance', async () => (tx) => payFromBalance(tx, charitableCauseDonate, paymentOf(donor))],
  [
    'together with others from balances',
    async () => {
      const { targets, effect } = charitableCauseDonate.together;
      const other = await buildIndividual(stack, { balance: String(each) });
      const payments = [paymentOf(donor), paymentOf(other)];
      return (tx) =>
        makePayments(tx, charitableCauseDonate, {
          payments,
          targets: targets(payments),
          effect: effect(paidOnes),
        });
    },
  ],
];

describe.each(casesOf(ways, ([way]) => !way.includes('together')))('A donation %s', (_, prepare) => {
  it('A donation committed while its cause is being closed leaves the cause closed, not completed', async () => {
    const disbursementId = await disburseAll();
    const donate = await prepare();
    let closed: Promise<unknown> = Promise.resolve();
    await stack.em().transactional(async (tx) => {
      await donate(tx);
      closed = close().then(async () => {
        await settleAtProvider(stack, disbursementId, 'SUCCEEDED');
        await withdrawalWhen(stack, owner, disbursementId, 'succeeded');
      });
      await Promise.race([closed, untilLocked(stack, { text: 'charitable_causes' })]);
    });
    await closed;
    expect(await balanceOf(stack, owner.accountId)).not.toBe('0.0000');
    expect(await statusOf()).toBe('deactivated');
  }, 120_000);
});

it('A donation waiting for a cause that is being closed is refused and debits nothing', async () => {
  let answer = give(stack, donor, each, causeId);
  expect((await answer).status).toBe(201);
  await stack.owner().transactional(async (tx) => {
    await tx.execute('select from charitable_causes where id = ? for update', [causeId]);
    await tx.execute("update charitable_causes set status = 'deactivated' where id = ?", [causeId]);
    answer = asAClient(() => give(stack, donor, each, causeId));
    await untilLocked(stack, { text: 'pay_from_balance' });
  });
  const { status, body } = await answer;
  // The database refuses it after the wait; if the wait timed out, the retry is refused without one.
  const refusals = /^reference_id: the charitable cause (no longer accepts donations|is deactivated)$/;
  expect([status, body.message]).toEqual([400, expect.stringMatching(refusals)]);
  expect(await balanceOf(stack, donor.accountId)).toBe(`${2 * each}.0000`);
}, 120_000);
